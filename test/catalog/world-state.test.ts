/** The world state: sections, their bounds, and the patches from step to step. */
import fc from 'fast-check';
import { BehaviorSubject, NEVER, Observable, Subject, throwError } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { toolsSection, serversSection, environmentsSection, skillsSection } from '../../src/catalog/world-sections.ts';
import { LiveSection, sectionBounds } from '../../src/catalog/live-section.ts';
import { sectionLimits, WorldStates } from '../../src/catalog/world-state.ts';
import type { OwnSections } from '../../src/catalog/world-state.ts';
import { applyMergePatch } from '../../src/domain/merge-patch.ts';
import type { Json, JsonObject, ToolInfo, WorldStateSection } from '../../src/index.ts';

const nothing = { entries: {}, omitted: 0 };
const noOwn: OwnSections = {
  environments: nothing,
  servers: nothing,
  plugins: nothing,
  tools: nothing,
  skills: nothing,
};

function worldOf(sections: readonly WorldStateSection[]) {
  const warnings: string[] = [];
  const states = new WorldStates({ redact: (state) => state, warn: (_, message) => warnings.push(message) });
  const live = sections.map((section) => new LiveSection(section));
  return {
    warnings,
    next(now = live) {
      return states.next(noOwn, now);
    },
  };
}

describe('the world state', () => {
  test('WS-1 is full in each step, with the change since the last one beside it', () => {
    let weather: JsonObject = { sky: 'clear', wind: null };
    const world = worldOf([{ id: 'acme.weather', value: () => weather }]);
    const first = world.next();
    expect(first).toEqual({ state: { 'acme.weather': { sky: 'clear' } } });
    expect(Object.isFrozen(first.state['acme.weather'])).toBe(true);
    expect(world.next().change).toEqual({});
    weather = { wind: 'north' };
    expect(world.next()).toEqual({
      state: { 'acme.weather': { wind: 'north' } },
      change: { 'acme.weather': { sky: null, wind: 'north' } },
    });
    expect(world.next([]).change).toEqual({ 'acme.weather': null });
  });

  test.each<readonly [string, () => unknown]>([
    ['Promise', async () => Promise.resolve({ sky: 'clear' })],
    ['Map', () => new Map([['sky', 'clear']])],
    ['Set', () => ({ skies: new Set(['clear']) })],
    ['Error', () => ({ why: new Error('rain') })],
  ])('WS-1 a section that says a %s is told, and keeps its last value', (kind, value) => {
    let say: () => unknown = () => ({ sky: 'grey' });
    const world = worldOf([{ id: 'acme.weather', value: () => say() as Json }]);
    world.next();
    say = value;
    expect(world.next().state).toEqual({ 'acme.weather': { sky: 'grey' } });
    expect(world.warnings).toEqual([expect.stringContaining(`expected JSON, got a value of type ${kind}`)]);
    expect(worldOf([{ id: 'acme.when', value: { at: new Date(0) } as never }]).next().state).toEqual({
      'acme.when': { at: '1970-01-01T00:00:00.000Z' },
    });
  });

  test('WS-1 the changes applied in order give the state of each step, whatever the sections say', () => {
    const ids = fc.constantFrom('a', 'b', 'acme/c', 'd:1');
    const json = fc.jsonValue({ maxDepth: 4 });
    const steps = fc.array(fc.dictionary(ids, json, { maxKeys: 4 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(steps, (values) => {
        const world = worldOf([]);
        let known: Json = {};
        for (const value of values) {
          const sections = Object.entries(value).map(([id, said]) => new LiveSection({ id, value: said }));
          const { state, change } = world.next(sections);
          known = change === undefined ? state : applyMergePatch(known, JSON.parse(JSON.stringify(change)) as Json);
          expect(known).toEqual(state);
          expect(JSON.parse(JSON.stringify(state))).toEqual(state);
        }
        expect(world.warnings).toEqual([]);
      }),
    );
  });

  test('WS-1 a section that throws, is no JSON or too large keeps its last value, and is told once', () => {
    let value: () => unknown = () => 'fine';
    const section = { id: 'odd', value: () => value() as Json };
    const world = worldOf([section]);
    world.next();
    const circle: unknown[] = [];
    circle.push(circle);
    const deep = JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`) as unknown;
    const bad = [
      () => {
        throw new Error('The sky fell.');
      },
      () => circle,
      () => 7n,
      () => () => undefined,
      () => 'x'.repeat(sectionBounds.bytes),
      () => deep,
    ];
    for (const [index, throwing] of bad.entries()) {
      value = throwing;
      expect(world.next().state).toEqual({ odd: 'fine' });
      expect(world.next().change).toEqual({});
      expect(world.warnings).toHaveLength(index + 1);
    }
    value = () => 'fine again';
    expect(world.next().change).toEqual({ odd: 'fine again' });
    value = () => null;
    expect(world.next().state).toEqual({});
    [value = value] = bad;
    expect(world.next().state).toEqual({});
  });

  test('WS-1 a stream counts with what it gave last, and goes on counting when it fails or ends', () => {
    const subject = new Subject<Json>();
    const kept = new BehaviorSubject<Json>(1);
    const sections = [
      { id: 'subject', value: subject },
      { id: 'kept', value: kept },
      { id: 'never', value: NEVER },
      { id: 'failed', value: throwError(() => new Error('No.')) },
      {
        id: 'thrown',
        value: new Observable<Json>(() => {
          throw new Error('No.');
        }),
      },
    ];
    const world = worldOf(sections);
    expect(world.next().state).toEqual({ kept: 1 });
    subject.next({ here: true });
    kept.complete();
    expect(world.next().state).toEqual({ kept: 1, subject: { here: true } });
    subject.error(new Error('Gone.'));
    expect(world.next().change).toEqual({});
    expect(world.warnings.map((warning) => /"(\w+)"/.exec(warning)?.[1])).toEqual(['failed', 'thrown', 'subject']);
  });

  test('WS-1 ids are unique and plain, and Holdfast has its own: later ones are left out and told', () => {
    const sections = ['one', 'one', 'servers', 'omitted', '', 'with space', '__proto__', 'x'.repeat(129)];
    const world = worldOf(sections.map((id, index) => ({ id, value: index })));
    expect(world.next().state).toEqual({ one: 0 });
    expect(world.next().state).toEqual({ one: 0 });
    expect(world.warnings).toHaveLength(sections.length - 1);
  });

  test('WS-1 there are bounds on how many sections there are, and how large they are together', () => {
    const many = worldOf(Array.from({ length: 100 }, (_, index) => ({ id: `s${index}`, value: index })));
    expect(Object.keys(many.next().state)).toHaveLength(sectionLimits.count);
    const large = worldOf(Array.from({ length: 10 }, (_, index) => ({ id: `s${index}`, value: 'x'.repeat(60_000) })));
    expect(Object.keys(large.next().state)).toHaveLength(4);
    expect(large.warnings).toHaveLength(6);
  });
});

describe("Holdfast's own sections", () => {
  const tool = (server: string, name: string): ToolInfo => ({
    name: `mcp__${server}__${name}`,
    server,
    tool: name,
    inputSchema: {},
    origin: 'stdio',
    environment: 'local',
    fingerprint: '',
  });

  test('WS-1 tools are named server by server, in 250 characters each and 4 KiB together', () => {
    const tools = Array.from({ length: 200 }, (_, server) =>
      Array.from({ length: 50 }, (__, index) => tool(`server-${server}`, `tool-${index}`)),
    ).flat();
    const { entries, omitted } = toolsSection(tools);
    expect(JSON.stringify(entries).length).toBeLessThanOrEqual(4_096);
    expect(Object.keys(entries).length + omitted).toBe(200);
    expect(entries['server-0']).toMatchObject({
      count: 50,
      names: expect.stringMatching(/^tool-0, .*, …$/) as unknown,
    });
    for (const entry of Object.values(entries))
      expect(JSON.stringify((entry as JsonObject)['names']).length).toBeLessThanOrEqual(252);
    expect(toolsSection(tools)).toBe(toolsSection(tools));
    expect(toolsSection([tool('a', 'x'.repeat(500))]).entries['a']).toMatchObject({ count: 1 });
  });

  test('WS-1 instructions, environments and skills are bounded', () => {
    const servers = Array.from({ length: 100 }, (_, index) => ({
      name: `s${index}`,
      state: 'ready' as const,
      instructions: 'x'.repeat(70_000),
    }));
    const said = serversSection(servers);
    expect(JSON.stringify(said.entries).length).toBeLessThanOrEqual(32_768);
    expect(said.omitted).toBe(100 - Object.keys(said.entries).length);
    const states = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [
        `e${index}`,
        { kind: 'failed', reason: 'y'.repeat(9_000) } as const,
      ]),
    );
    const places = environmentsSection(states, '/work');
    expect(places.omitted).toBe(937);
    expect(JSON.stringify(places.entries).length).toBeLessThan(70_000);
    const skills = Array.from({ length: 10_000 }, (_, index) => ({
      id: `mcp:s/${index}`,
      name: 'a',
      description: 'z'.repeat(1_000),
      origin: { kind: 'server', server: 's' } as const,
      frontmatter: {},
      integrity: 'none' as const,
    }));
    expect(JSON.stringify(skillsSection(skills).entries).length).toBeLessThanOrEqual(16_384);
  });
});
