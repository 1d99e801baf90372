import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from 'prettier';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { and, assign, fromPromise, not, setup } from 'xstate';
import { findDrift, renderFiles, writeFiles } from '../../scripts/statecharts/files.ts';
import { drawChart } from '../../scripts/statecharts/mermaid.ts';
import { readChart } from '../../scripts/statecharts/read.ts';

interface DoorTypes {
  context: { visits: number };
  events: { type: 'door.push' | 'door.lock' | 'door.burn' | 'door.knock' };
}

const doorTypes = {} as DoorTypes;

const doorSetup = setup({
  types: doorTypes,
  actors: { knock: fromPromise(() => Promise.resolve('in')) },
  actions: { ring: () => undefined, count: assign({ visits: ({ context }) => context.visits + 1 }) },
  guards: { isFree: () => true, isNight: () => false },
  delays: { patience: 100 },
});

const doorMachine = doorSetup.createMachine({
  id: 'door',
  description: 'A door, and who stands before it',
  meta: { sends: ['a ring to the house'], persisted: ['how many came'], invariants: ['D1 opens | never by itself'] },
  context: { visits: 0 },
  initial: 'shut',
  on: { 'door.burn': '.gone', 'door.knock': { actions: 'ring' } },
  states: {
    shut: {
      description: 'Nobody gets in.',
      entry: 'ring',
      invoke: { id: 'visitor', src: 'knock', onDone: 'open', onError: { actions: 'count' } },
      on: {
        'door.push': [
          { guard: and(['isFree', not('isNight')]), target: 'open', actions: 'count' },
          { actions: 'ring' },
        ],
      },
    },
    open: {
      description: 'Two leaves, each on its own.',
      tags: 'inviting',
      type: 'parallel',
      states: {
        left: {
          description: 'The left leaf.',
          initial: 'wide',
          states: {
            wide: { description: 'As far as it goes.', after: { 500: 'ajar', patience: { actions: 'ring' } } },
            ajar: { description: 'A little.', always: { guard: 'isNight', target: '#door.shut' } },
          },
        },
        right: { description: 'The right leaf.' },
      },
      on: { 'door.lock': 'shut', 'door.push': { target: 'open', reenter: true } },
    },
    gone: { description: 'Ashes.', type: 'final' },
  },
});

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'statecharts-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('IN-3 pages', () => {
  test('IN-3 draws every state and arrow of a machine', () => {
    expect(drawChart(readChart(doorMachine))).toBe(`stateDiagram-v2
  state "any" as any__
  state "shut" as shut
  state "open" as open {
    state "left" as open__left {
      state "wide" as open__left__wide
      state "ajar" as open__left__ajar
      [*] --> open__left__wide
      open__left__wide --> open__left__ajar : after 500 ms
      open__left__wide --> open__left__wide : after patience
    }
    --
    state "right" as open__right
  }
  state "gone" as gone
  [*] --> shut
  any__ --> gone : door.burn
  shut --> open : door.push [isFree and not isNight]<br/>visitor done
  shut --> shut : door.push<br/>visitor failed
  open --> shut : door.lock
  open --> open : door.push
  open__left__ajar --> shut : [isNight]
  gone --> [*]`);
  });

  test('IN-3 says what each state means, what is heard, said, kept, and what always holds', async () => {
    const page = (await renderFiles({ doorMachine })).get('door.md') ?? '';
    const rows = page.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
    expect(rows).toContain('A door, and who stands before it.');
    expect(rows).toContain('| `shut` | Nobody gets in. | entry: `ring`, actor: `visitor (knock)` |');
    expect(rows).toContain('| `open` | Two leaves, each on its own. (parallel, tag inviting) | |');
    expect(rows).toContain('| `door.push` | `shut` | `isFree and not isNight` | `open` | `count` |');
    expect(rows).toContain('| `door.push` | `shut` | | stays | `ring` |');
    expect(rows).toContain('| `door.burn` | `(any)` | | `gone` | |');
    expect(rows).toContain('| always | `open.left.ajar` | `isNight` | `shut` | |');
    expect(rows).toContain('- Actions: `count`, `ring`');
    expect(rows).toContain('- Actors: `knock`');
    expect(rows).toContain('- Guards: `isFree`, `isNight`');
    expect(rows).toContain('- a ring to the house');
    expect(rows).toContain('- how many came');
    expect(rows).toContain('- D1 opens | never by itself');
  });

  test('IN-3 the same machine gives the same text, which the formatter leaves as it is', async () => {
    const [one, two] = [await renderFiles({ doorMachine }), await renderFiles({ doorMachine })];
    expect([...one]).toEqual([...two]);
    for (const text of one.values()) {
      expect(await check(text, { parser: 'markdown', printWidth: 120, singleQuote: true })).toBe(true);
    }
  });

  test('IN-3 names pages after their exports and lists them in order', async () => {
    const files = await renderFiles({ frontDoorMachine: doorMachine, doorMachine, other: 1, notAMachine: {} });
    expect([...files.keys()]).toEqual(['README.md', 'door.md', 'front-door.md']);
    expect(files.get('README.md')).toMatch(/\[door\]\(door\.md\)[^]*\[front-door\]\(front-door\.md\)/);
    expect(files.get('front-door.md')).toMatch(/^# Front door\n/);
  });

  test('IN-3 refuses a state without a description, and an export without machines', async () => {
    const bare = setup({}).createMachine({
      id: 'bare',
      description: 'Bare.',
      initial: 'a',
      states: { a: { description: 'A.', initial: 'b', states: { b: {} } }, c: {} },
    });
    await expect(renderFiles({ bareMachine: bare })).rejects.toThrow(
      'Machine "bare": expected a description on every state, got none on "a.b", "c". Add them.',
    );
    await expect(renderFiles({ wrongName: doorMachine })).rejects.toThrow(
      'Expected machines among the exports, got none.',
    );
  });

  test('IN-3 refuses meta that is not lists of sentences', () => {
    const wrong = setup({}).createMachine({ id: 'wrong', description: 'Wrong.', meta: { sends: 'much' } });
    expect(() => readChart(wrong)).toThrow(
      'Machine "wrong": expected meta.sends to be a list of sentences, got string.',
    );
  });
});

describe('IN-3 drift', () => {
  test('IN-3 finds nothing right after writing, and removes pages of machines that are gone', async () => {
    const files = await renderFiles({ doorMachine });
    writeFileSync(join(folder, 'window.md'), 'old');
    writeFiles(folder, files);
    expect(findDrift(folder, files)).toEqual([]);
    expect(readdirSync(folder).toSorted()).toEqual(['README.md', 'door.md']);
  });

  test('IN-3 shows the first line that differs, what is missing and what is left over', async () => {
    const files = await renderFiles({ doorMachine });
    expect(findDrift(join(folder, 'none'), files)).toEqual(['README.md: missing', 'door.md: missing']);
    writeFiles(folder, files);
    const page = join(folder, 'door.md');
    writeFileSync(page, readFileSync(page, 'utf8').replace('# Door', '# Gate'));
    writeFileSync(join(folder, 'window.md'), 'old');
    expect(findDrift(folder, files)).toEqual(['window.md: its machine is gone', 'door.md:1\n  - # Gate\n  + # Door']);
  });
});
