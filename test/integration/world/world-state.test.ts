/** The world state of steps, from real servers and extensions. */
import { BehaviorSubject, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { createCatalogBuilder, createHost, createThread } from '../../../src/index.ts';
import type {
  Extension,
  ExtensionServers,
  ExtensionSkill,
  Json,
  Thread,
  WorldStateSection,
} from '../../../src/index.ts';
import { applyMergePatch } from '../../../src/domain/merge-patch.ts';
import { scriptedServer } from '../../../src/testing/index.ts';
import { errorOf, serverOf, textOf, turns, Watch } from '../runtimes/support.ts';

const published = (generation: number) => (fact: { readonly type: string; readonly generation?: number }) =>
  fact.type === 'runtime.published' && fact.generation === generation;

async function worldOf(thread: Thread) {
  await using step = await thread.beginStep();
  return step.worldState;
}

async function serversOf(thread: Thread): Promise<readonly string[]> {
  await using step = await thread.beginStep();
  return [...new Set(step.tools.map(({ server }) => server))];
}

describe('the world state of a step', () => {
  test('WS-1 H1 H9 says what its own runtime says, and the change since the step before', async () => {
    await using docs = scriptedServer({ tools: ['echo', 'park'], instructions: 'Ask before you echo.' });
    await using mail = scriptedServer({ tools: ['echo'], instructions: 'Be brief.', era: 'modern' });
    await using thread = createThread({ servers: { docs: docs.config } });
    expect(thread.snapshot().worldState).toEqual({});
    await using first = await thread.beginStep();
    expect(first.worldState).toEqual({
      environments: { local: { state: 'ready', cwd: process.cwd() } },
      servers: { docs: { state: 'ready', instructions: 'Ask before you echo.' } },
      tools: { docs: { count: 2, names: 'echo, park' } },
    });
    expect(first).not.toHaveProperty('worldStateChange');
    expect(Object.isFrozen(first.worldState)).toBe(true);
    expect(thread.snapshot().worldState).toEqual(first.worldState);
    await using second = await thread.beginStep();
    expect(second.worldStateChange).toEqual({});

    await thread.replaceRuntime({ servers: { mail: mail.config } });
    await using third = await thread.beginStep();
    expect(third.worldStateChange).toEqual({
      servers: { docs: null, mail: { state: 'ready', instructions: 'Be brief.' } },
      tools: { docs: null, mail: { count: 1, names: 'echo' } },
    });
    expect(first.worldState['servers']).toHaveProperty('docs');
    expect(JSON.parse(JSON.stringify(thread.snapshot()))).toEqual(thread.snapshot());
  });

  test('WS-1 steps that begin at once get their states in that order', async () => {
    let count = 0;
    const worldState: readonly WorldStateSection[] = [{ id: 'count', value: () => (count += 1) }];
    await using thread = createThread({ worldState });
    const steps = await Promise.all(Array.from({ length: 20 }, () => thread.beginStep()));
    expect(steps.map((step) => step.worldState['count'])).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    let known: Json = {};
    for (const { worldState: state, worldStateChange } of steps) {
      known = worldStateChange === undefined ? state : applyMergePatch(known, worldStateChange);
      expect(known).toEqual(state);
    }
    await Promise.all(steps.map((step) => step.end()));
  });

  test('WS-1 SE-1 holds no secret, whoever puts one in', async () => {
    const secret = 'hunter2-hunter2';
    await using docs = scriptedServer({ tools: ['echo'], instructions: `The password is ${secret}.` });
    await using thread = createThread({
      servers: { docs: docs.config },
      secrets: [secret],
      worldState: [{ id: 'host', value: { [secret]: [`x ${secret}`] } }],
    });
    const world = await worldOf(thread);
    expect(world['host']).toEqual({ '[redacted]': ['x [redacted]'] });
    expect(JSON.stringify([world, thread.snapshot()])).not.toContain(secret);
  });

  test('WS-1 NM-5 names plugins with their servers and connectors, and servers that are not ready', async () => {
    await using docs = scriptedServer({ tools: ['echo'] });
    const plugin = { id: 'kit', name: 'The kit' };
    const catalog = createCatalogBuilder()
      .register({
        name: 'docs',
        source: { kind: 'plugin', plugin, order: 0 },
        connector: { id: 'connector-1', name: 'Docs' },
        config: docs.config,
      })
      .register({ name: 'bad', source: { kind: 'config' }, config: { command: 'holdfast-no-such-command' } })
      .build();
    await using thread = createThread({ catalog });
    expect(await worldOf(thread)).toMatchObject({
      servers: { docs: { state: 'ready' }, bad: { state: 'failed' } },
      plugins: { kit: { name: 'The kit', servers: ['docs'], connectors: { 'connector-1': 'Docs' } } },
    });
  });

  test('WS-1 RT-8 a step that is aborted, or whose thread closes, while it learns of the world holds nothing', async () => {
    await using thread = createThread({ servers: {} });
    await thread.ready();
    const stop = new AbortController();
    const aborted = errorOf(thread.beginStep({ signal: stop.signal }));
    stop.abort();
    expect(await aborted).toMatchObject({ code: 'aborted' });
    expect(thread.snapshot().steps).toEqual([]);
    const closed = errorOf(thread.beginStep());
    await thread.close();
    expect(await closed).toMatchObject({ code: 'thread_closed' });
  });
});

describe('an extension', () => {
  test('CA-5 WS-1 WS-2 brings servers over the configured ones, sections and skills, as values', async () => {
    await using one = scriptedServer({ tools: ['echo'], name: 'one' });
    await using two = scriptedServer({ tools: ['echo', 'park'], name: 'two' });
    const extension: Extension = {
      id: 'acme',
      servers: { set: { shared: two.config, own: two.config }, remove: ['gone'] },
      worldState: [{ id: 'acme.office', value: { floor: 3 } }],
      skills: [
        { name: 'greet', description: 'Says hello.', text: 'Say hello.' },
        { name: 'part', description: 'Says goodbye.', text: () => Promise.resolve('Say goodbye.') },
        { name: 'Bad Name', description: 'No.', text: '' },
      ],
    };
    await using thread = createThread({
      servers: { shared: one.config, gone: one.config, kept: one.config },
      extensions: [extension],
    });
    const watch = new Watch(thread);
    await using step = await thread.beginStep();
    expect([...new Set(step.tools.map(({ server }) => server))]).toEqual(['shared', 'kept', 'own']);
    expect(step.tools.filter(({ server }) => server === 'shared')).toHaveLength(2);
    expect(serverOf(thread, 'own').provenance).toMatchObject({ source: 'extension' });
    expect(step.worldState['acme.office']).toEqual({ floor: 3 });
    expect(step.skills).toMatchObject([
      { id: 'extension:acme/greet', origin: { kind: 'extension', extension: 'acme' } },
      { id: 'extension:acme/part' },
    ]);
    expect(await step.readSkill('greet')).toMatchObject({ text: 'Say hello.' });
    expect(await step.readSkill('part')).toMatchObject({ text: 'Say goodbye.' });
    expect(await errorOf(step.readSkill('greet', { file: 'more.md' }))).toMatchObject({ code: 'invalid_result' });
    expect(watch.of('warning')).toMatchObject([{ code: 'skill_dropped' }]);
  });

  test('CA-5 K3 removes and sets over a catalog and a replacement alike, and what is vetoed stays off', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const servers = new BehaviorSubject<ExtensionServers>({ set: { off: peer.config, own: peer.config } });
    const catalog = createCatalogBuilder()
      .register({ name: 'off', source: { kind: 'config' }, config: { ...peer.config, enabled: false } })
      .register({ name: 'kept', source: { kind: 'config' }, config: peer.config })
      .build();
    await using thread = createThread({ catalog, extensions: [{ id: 'acme', servers }] });
    const watch = new Watch(thread);
    expect(await serversOf(thread)).toEqual(['kept', 'own']);
    expect(serverOf(thread, 'off').state).toBe('disabled');
    servers.next({ remove: ['kept'] });
    await watch.until(published(2));
    expect(await serversOf(thread)).toEqual([]);
    await thread.replaceRuntime({ servers: { kept: peer.config, new: peer.config } });
    expect(await serversOf(thread)).toEqual(['new']);
    servers.next({});
    await watch.until(published(4));
    expect(await serversOf(thread)).toEqual(['kept', 'new']);
    servers.next({});
    await turns(5);
    expect(thread.snapshot().generation).toBe(4);
  });

  test('WS-2 two skills of one id are told, and the first is kept', async () => {
    const skill = (text: string): ExtensionSkill => ({ name: 'greet', description: 'Says hello.', text });
    await using thread = createThread({ extensions: [{ id: 'acme', skills: [skill('one'), skill('two')] }] });
    const watch = new Watch(thread);
    await using step = await thread.beginStep();
    await using _ = await thread.beginStep();
    expect(step.skills).toHaveLength(1);
    expect(await step.readSkill('greet')).toMatchObject({ text: 'one' });
    expect(watch.of('warning')).toMatchObject([{ code: 'skill_dropped' }]);
  });

  test('CA-5 of two extensions the later one wins a name', async () => {
    await using one = scriptedServer({ tools: ['echo'] });
    await using two = scriptedServer({ tools: ['park'] });
    await using thread = createThread({
      extensions: [
        { id: 'a', servers: { set: { docs: one.config } } },
        { id: 'b', servers: { set: { docs: two.config } } },
      ],
    });
    await using step = await thread.beginStep();
    expect(step.tools.map(({ tool }) => tool)).toEqual(['park']);
  });

  test('WS-1 WS-2 streams count with what they gave last, in the next step', async () => {
    const floor = new BehaviorSubject<Json>(3);
    const sections = new BehaviorSubject<readonly WorldStateSection[]>([{ id: 'floor', value: floor }]);
    const skills = new Subject<readonly ExtensionSkill[]>();
    await using thread = createThread({ extensions: [{ id: 'acme', worldState: sections, skills }] });
    await using first = await thread.beginStep();
    expect(first.worldState['floor']).toBe(3);
    floor.next(4);
    skills.next([{ name: 'greet', description: 'Says hello.', text: '' }]);
    await using second = await thread.beginStep();
    expect(second.worldStateChange).toEqual({
      floor: 4,
      skills: { 'extension:acme/greet': { name: 'greet', description: 'Says hello.', from: 'extension "acme"' } },
    });
    expect(first.skills).toEqual([]);
    sections.next([]);
    await using third = await thread.beginStep();
    expect(third.worldStateChange).toEqual({ floor: null });
  });

  test('WS-1 CA-5 streams are heard from the moment the thread is made, and what they gave before they failed stays', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const servers = new Subject<ExtensionServers>();
    const sections = new Subject<readonly WorldStateSection[]>();
    const value = new Subject<Json>();
    await using thread = createThread({
      worldState: [{ id: 'host', value }],
      extensions: [{ id: 'acme', servers, worldState: sections }],
    });
    servers.next({ set: { own: peer.config } });
    sections.next([{ id: 'said', value: 1 }]);
    value.next(2);
    servers.error(new Error('Gone.'));
    await using step = await thread.beginStep();
    expect(step.worldState).toMatchObject({ said: 1, host: 2 });
    expect(step.tools).toHaveLength(1);
  });

  const throws = (): never => {
    throw new Error('The extension fell over.');
  };
  test.each<[string, Extension]>([
    [
      'throws from each of its parts',
      {
        id: 'bad',
        get servers(): never {
          return throws();
        },
        get worldState(): never {
          return throws();
        },
        get skills(): never {
          return throws();
        },
      },
    ],
    [
      'has streams that fail',
      {
        id: 'bad',
        servers: throwError(throws),
        worldState: new Observable<readonly WorldStateSection[]>(throws),
        skills: new Observable<readonly ExtensionSkill[]>((subscriber) => {
          subscriber.error('a text');
        }),
      },
    ],
    ['says what is not fit', odd({ servers: { set: { x: { command: 7 } } }, worldState: 7, skills: [{}] })],
    ['says what is no object', odd({ servers: 'no', worldState: 'no', skills: 'no' })],
    ['streams what is not fit', odd({ servers: of({ remove: 'x' }), worldState: of({}), skills: of(7) })],
  ])('RT-12 WS-1 that %s is told by warnings, and everything else goes on', async (_, bad) => {
    await using peer = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({
      servers: { docs: peer.config },
      extensions: [bad, { id: 'good', worldState: [{ id: 'good', value: true }] }],
    });
    const watch = new Watch(thread);
    await using step = await thread.beginStep();
    expect(step.worldState['good']).toBe(true);
    expect(textOf(await step.callTool('mcp__docs__echo', { text: 'on' }))).toBe('on');
    expect(watch.of('warning').map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'extension_failed'));
    expect(watch.of('warning').every(({ message }) => message.includes('"bad"'))).toBe(true);
  });

  test('RT-12 WS-1 that falls over later keeps what it said before, and its bad skills are not given', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const servers = new BehaviorSubject<ExtensionServers>({ set: { own: peer.config } });
    const section = new BehaviorSubject<Json>('said');
    await using thread = createThread({
      extensions: [
        {
          id: 'acme',
          servers,
          worldState: [{ id: 'said', value: section }],
          skills: [
            { name: 'bad', description: 'Throws.', text: throws },
            { name: 'odd', description: 'No text.', text: () => Promise.resolve(JSON.parse('7') as string) },
          ],
        },
      ],
    });
    await thread.ready();
    servers.error(new Error('Gone.'));
    section.error(new Error('Gone.'));
    await using step = await thread.beginStep();
    expect([step.worldState['said'], step.tools.length]).toEqual(['said', 1]);
    expect(await errorOf(step.readSkill('bad'))).toMatchObject({ code: 'invalid_result' });
    expect(await errorOf(step.readSkill('odd'))).toMatchObject({ code: 'invalid_result' });
  });

  test('RT-12 H10 that throws as it is left, and a catalog that does, keep no thread from closing', async () => {
    const leaving = new Observable<never>(() => throws);
    const catalog = createCatalogBuilder().build();
    const catalogs = new Observable<typeof catalog>((subscriber) => {
      subscriber.next(catalog);
      return throws;
    });
    const extension: Extension = { id: 'bad', servers: leaving, worldState: [{ id: 'a', value: leaving }] };
    for (const options of [{ extensions: [extension] }, { catalog: catalogs }]) {
      const thread = createThread(options);
      await thread.ready();
      await thread.close();
      expect(thread.snapshot().state).toBe('closed');
    }
  });

  test('WS-1 ids used twice, and what is no extension, are refused at the start', () => {
    const section = { id: 'same', value: 1 };
    const bad: readonly unknown[] = [
      { extensions: [{ id: 'a' }, { id: 'a' }] },
      { extensions: [{}] },
      { extensions: [null] },
      { extensions: {} },
      { worldState: 'no' },
      { worldState: [section, section] },
      { worldState: [section], extensions: [{ id: 'a', worldState: [section] }] },
      { worldState: [{ id: 'skills', value: 1 }] },
      { worldState: [{ id: '', value: 1 }] },
      { extensions: [{ id: 'a', worldState: [7] }] },
    ];
    for (const options of bad)
      expect(() => void Reflect.apply(createThread, undefined, [options])).toThrow(
        expect.objectContaining({ code: 'invalid_argument' }) as Error,
      );
  });

  test('H10 H8 is no longer listened to when its thread is closed, and each thread has its own state', async () => {
    let listeners = 0;
    const counted = new Observable<never>(() => {
      listeners += 1;
      return () => {
        listeners -= 1;
      };
    });
    const sections = new BehaviorSubject<readonly WorldStateSection[]>([{ id: 'a', value: counted }]);
    const extension: Extension = { id: 'acme', servers: counted, skills: NEVER, worldState: sections };
    await using host = createHost();
    const thread = host.createThread({ extensions: [extension] });
    await using other = host.createThread({ worldState: [{ id: 'other', value: 1 }] });
    const step = await thread.beginStep();
    expect(listeners).toBe(2);
    expect(step.worldState).not.toHaveProperty('other');
    expect(await worldOf(other)).toHaveProperty('other');
    sections.next([]);
    expect(listeners).toBe(1);
    sections.next([{ id: 'b', value: counted }]);
    expect(listeners).toBe(2);
    await thread.close();
    await turns(2);
    expect(listeners).toBe(0);
  });
});

function odd(parts: Readonly<Record<string, unknown>>): Extension {
  return { id: 'bad', ...parts };
}
