/** What extensions, sections, catalogs and environments throw that has no text: a warning, never more. */
import { BehaviorSubject, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { Extension, ThreadOptions } from '../../../src/index.ts';
import { Watch } from '../runtimes/support.ts';

const throws = (): never => {
  throw Object.create(null);
};
const failing = (): Observable<never> => throwError(() => Object.create(null) as unknown);
const throwingSkills: Extension = {
  id: 'a',
  get skills(): never {
    return throws();
  },
};
const root = { plugin: { id: 'p', name: 'P' }, environment: 'box', path: '/p' };
const launcher = { launch: throws, readFile: throws, findFiles: throws };

test.each([
  ['the servers of an extension', { extensions: [{ id: 'a', servers: failing() }] }],
  ['the sections of an extension', { extensions: [{ id: 'a', worldState: failing() }] }],
  ['a getter of an extension', { extensions: [throwingSkills] }],
  ['a section', { worldState: [{ id: 'a', value: throws }] }],
  ['the stream of a section', { worldState: [{ id: 'a', value: failing() }] }],
  ['environments', { servers: {}, environments: { states$: failing() } }],
  [
    'a launcher',
    {
      servers: { m: { command: 'x', environment: 'box' } },
      environments: {
        roots: [root],
        states$: new BehaviorSubject({ box: { kind: 'ready', handle: '1', launcher } as const }),
      },
    },
  ],
] satisfies readonly (readonly [string, ThreadOptions])[])(
  'RT-12 %s that throws a value without text is a warning or a failed server',
  async (_title, options) => {
    await using thread = createThread(options);
    const watch = new Watch(thread);
    await using step = await thread.beginStep({ timeoutMs: 5_000 });
    expect(step.worldState).toHaveProperty('environments');
    const told = [...watch.facts.map((fact) => JSON.stringify(fact)), JSON.stringify(thread.snapshot().servers)];
    expect(told.join('\n')).toContain('a value without text');
  },
);

test('RT-12 RT-4 a stream of catalogs that fails with a value without text fails the first step', async () => {
  await using thread = createThread({ catalog: failing() });
  await expect(thread.beginStep({ timeoutMs: 5_000 })).rejects.toMatchObject({ code: 'runtime_failed' });
});
