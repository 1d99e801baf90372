/** What extensions, sections, catalogs and environments throw that has no text: a warning, never more. */
import { BehaviorSubject, Subject, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { expect, test } from 'vitest';
import { createCatalogBuilder, createThread } from '../../../src/index.ts';
import type { Catalog, EnvironmentStates, Extension, ExtensionServers, ThreadOptions } from '../../../src/index.ts';
import { errorOf, turns, Watch } from '../runtimes/support.ts';

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

test('RT-12 streams that are wrong at any rate are told of once, and again when they were right between', async () => {
  const servers = new Subject<ExtensionServers>();
  const catalog = new BehaviorSubject<Catalog>(createCatalogBuilder().build());
  const states$ = new BehaviorSubject<EnvironmentStates>({});
  await using thread = createThread({ catalog, environments: { states$ }, extensions: [{ id: 'a', servers }] });
  const watch = new Watch(thread);
  await using _step = await thread.beginStep();
  for (const round of [1, 2]) {
    for (let index = 0; index < 100; index += 1) {
      servers.next({ set: index } as unknown as ExtensionServers);
      states$.next(index as unknown as EnvironmentStates);
    }
    for (let index = 0; index < 100; index += 1) catalog.next(index as unknown as Catalog);
    await turns(2);
    expect(watch.of('warning')).toHaveLength(3 * round);
    catalog.next(createCatalogBuilder().build());
    servers.next({});
    states$.next({});
    await turns(2);
  }
});

test('WS-1 a step whose beginning is aborted takes no change away from the next', async () => {
  let hours = 'closed';
  await using thread = createThread({ servers: {}, worldState: [{ id: 'hours', value: () => hours }] });
  await using _first = await thread.beginStep();
  hours = 'open';
  const stop = new AbortController();
  const second = errorOf(thread.beginStep({ signal: stop.signal }));
  stop.abort();
  expect(await second).toMatchObject({ code: 'aborted' });
  await using third = await thread.beginStep();
  expect(third.worldStateChange).toEqual({ hours: 'open' });
});

test('WS-1 sections over the total are told of once, until they fit', async () => {
  let last = 'x'.repeat(60_000);
  const big = (index: number) => ({ id: `s${String(index)}`, value: () => (index === 4 ? last : 'x'.repeat(60_000)) });
  await using thread = createThread({ servers: {}, worldState: [0, 1, 2, 3, 4].map(big) });
  const watch = new Watch(thread);
  const begin = async (): Promise<number> => {
    await using _step = await thread.beginStep();
    return watch.of('warning').length;
  };
  expect([await begin(), await begin(), await begin()]).toEqual([1, 1, 1]);
  last = 'x';
  expect(await begin()).toBe(1);
  last = 'x'.repeat(60_000);
  expect([await begin(), await begin()]).toEqual([2, 2]);
});

test('SE-1 RT-12 what is told before the first runtime holds no secret of its servers', async () => {
  const secret = 'hunter2-hunter2-hunter2';
  const extension: Extension = {
    id: 'a',
    get servers(): never {
      throw new Error(`bad ${secret}`);
    },
  };
  const server = { command: process.execPath, args: ['-e', ''], enabled: false, env: { API_TOKEN: secret } };
  for (const options of [
    { servers: { m: server } },
    {
      catalog: createCatalogBuilder()
        .register({ name: 'm', source: { kind: 'config' }, config: server })
        .build(),
    },
  ]) {
    await using thread = createThread({ ...options, extensions: [extension] });
    const watch = new Watch(thread);
    await using _step = await thread.beginStep();
    expect(watch.of('warning').map(({ message }) => message)).toEqual([expect.stringContaining('bad [redacted]')]);
  }
});
