/** World state and skills over JSON lines. */
import { afterEach, expect, test } from 'vitest';
import { applyMergePatch } from '../../src/domain/merge-patch.ts';
import { entryOf, skillsPeer, skillText } from '../integration/world/support.ts';
import { TestHost } from './jsonl-host.ts';

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const uri = 'skill://refunds/SKILL.md';
const frontmatter = { name: 'refunds', description: 'How money goes back.' };

test('CL-2 WS-1 WS-2 gives each step the world state, its change and its skills, and loads a skill', async () => {
  const peer = skillsPeer({ [uri]: skillText(frontmatter) }, { instructions: 'Ask first.' });
  peer.skills = [entryOf(peer, uri, frontmatter)];
  const host = new TestHost({ servers: { docs: peer.config } });
  endings.push(async () => host.close());
  const first = await host.result('beginStep');
  expect(first).toMatchObject({
    worldState: { servers: { docs: { state: 'ready', instructions: 'Ask first.' } } },
    skills: [{ id: 'mcp:docs/refunds', name: 'refunds' }],
  });
  expect(first).not.toHaveProperty('worldStateChange');
  const { step } = first;
  expect(await host.result('readSkill', { step, skill: 'refunds' })).toMatchObject({
    file: 'SKILL.md',
    text: skillText(frontmatter),
    skill: { id: 'mcp:docs/refunds' },
  });
  expect(await host.result('readSkill', { step, skill: { server: 'docs', uri } })).toMatchObject({ file: 'SKILL.md' });
  for (const [more, code] of [
    [{ skill: 'none' }, 'invalid_argument'],
    [{ skill: 7 }, 'invalid_argument'],
    [{ skill: 'refunds', file: '../x' }, 'invalid_result'],
    [{ skill: 'refunds', timeoutMs: 0.5 }, 'invalid_argument'],
  ] as const)
    expect(await host.ask('readSkill', { step, ...more })).toMatchObject({ ok: false, error: { code } });
  expect(await host.ask('readSkill', { step: 'step-9', skill: 'refunds' })).toMatchObject({
    error: { code: 'unknown_step' },
  });

  const second = await host.result('beginStep');
  expect(second['worldStateChange']).toEqual({});
  await host.result('replace', { servers: {} });
  const third = await host.result('beginStep');
  expect(third['worldStateChange']).toMatchObject({ servers: null, skills: null });
  const before = JSON.parse(JSON.stringify(second['worldState'])) as never;
  const change = JSON.parse(JSON.stringify(third['worldStateChange'])) as never;
  expect(applyMergePatch(before, change)).toEqual(third['worldState']);
  expect(await host.result('snapshot')).toMatchObject({ worldState: third['worldState'] });
});
