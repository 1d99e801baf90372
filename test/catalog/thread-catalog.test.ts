/** A thread whose servers come from a catalog, once or as a stream. */
import { EMPTY, Observable, Subject, of, throwError } from 'rxjs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { commandLauncher, createCatalogBuilder, createEnvironments, createThread } from '../../src/index.ts';
import type { Catalog, RuntimeServers, ServerMap, Thread } from '../../src/index.ts';
import { isSameProjection, toRuntimeServers } from '../../src/catalog/projection.ts';
import { scriptedServer, stdioServerConfig } from '../../src/testing/index.ts';
import { Watch, serverOf, textOf } from '../integration/runtimes/support.ts';

function catalogOf(servers: ServerMap): Catalog {
  return createCatalogBuilder().registerAll({ kind: 'config' }, { servers }).build();
}

function published(generation: number): (fact: { readonly type: string; readonly generation?: number }) => boolean {
  return (fact) => fact.type === 'runtime.published' && fact.generation === generation;
}

async function toolNames(thread: Thread): Promise<readonly string[]> {
  await using step = await thread.beginStep();
  return step.tools.map(({ name }) => name);
}

describe('a catalog', () => {
  test('CA-5 starts a thread, and replaces its runtime', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    await using thread = createThread({ catalog: catalogOf({ one: peer.config }) });
    expect(await toolNames(thread)).toEqual(['mcp__one__echo']);
    await thread.replaceRuntime({ catalog: catalogOf({ two: peer.config }) });
    expect(await toolNames(thread)).toEqual(['mcp__two__echo']);
  });

  test('NM-5 says with each tool the plugin, connector and environment it came from', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const plugin = { id: 'kit', name: 'The kit' };
    const catalog = createCatalogBuilder()
      .register({
        name: 'one',
        source: { kind: 'plugin', plugin, order: 0 },
        connector: { id: 'mail', name: 'Mail' },
        config: { ...peer.config, environment: 'local' },
      })
      .register({ name: 'two', source: { kind: 'config' }, config: peer.config })
      .build();
    await using thread = createThread({ catalog });
    await using step = await thread.beginStep();
    expect(step.tools).toMatchObject([
      { server: 'one', plugin, connector: { id: 'mail', name: 'Mail' }, environment: 'local', origin: 'in-memory' },
      { server: 'two', environment: 'local', origin: 'in-memory' },
    ]);
    expect(step.tools[1]).not.toHaveProperty('plugin');
    expect(serverOf(thread, 'one').provenance).toEqual({
      source: 'plugin',
      plugin,
      connector: { id: 'mail', name: 'Mail' },
    });
  });

  test('CA-8 a disallowed server shows as disabled with its reason, in the snapshot, the facts and the error', async () => {
    const catalog = createCatalogBuilder()
      .require({ source: 'Example Inc.', allow: [] })
      .register({ name: 'bad', source: { kind: 'config' }, config: { command: 'never-run', required: true } })
      .build();
    await using thread = createThread({ catalog });
    const watch = new Watch(thread);
    await thread.ready();
    const reason = expect.objectContaining({
      code: 'server_misconfigured',
      message: expect.stringContaining('"Example Inc."') as unknown,
    }) as unknown;
    expect(serverOf(thread, 'bad')).toMatchObject({
      state: 'disabled',
      error: reason,
      generations: [1],
      provenance: { source: 'config' },
    });
    expect(thread.snapshot().runtimes[0]?.servers).toEqual(['bad']);
    expect(await watch.untilServer('bad', 'disabled')).toMatchObject({ error: reason });
    await expect(thread.listTools('bad')).rejects.toMatchObject({
      code: 'server_unavailable',
      message: expect.stringContaining('"Example Inc."') as unknown,
    });
  });

  test('CA-5 a vetoed server that is misconfigured and required holds nothing back', async () => {
    const failure = { code: 'server_misconfigured', message: 'No value for "KEY".', retryable: false } as const;
    const builder = createCatalogBuilder().register({
      name: 'broken',
      source: { kind: 'config' },
      failure: { ...failure, required: true },
    });
    await using thread = createThread({ catalog: builder.build() });
    await expect(thread.ready()).rejects.toMatchObject({ code: 'runtime_failed' });
    await thread.replaceRuntime({ catalog: builder.disable('broken', 'not today').build() });
    expect(serverOf(thread, 'broken')).toMatchObject({
      state: 'disabled',
      error: { message: expect.stringContaining('not today') as unknown },
    });
  });

  test('CA-5 and servers beside it are refused', () => {
    expect(() => createThread({ servers: {}, catalog: catalogOf({}) })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

describe('variables handed on', () => {
  const variables = ['ALIAS', 'UNSET'];

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('CA-6 CN-1 a server is given those it names, its own values win, and one not set is left out', async () => {
    vi.stubEnv('SEEDED', 'seeded-value');
    const server = stdioServerConfig({ tools: ['env'] });
    const config = {
      ...server,
      envFrom: { ALIAS: 'SEEDED', OWN: 'SEEDED', UNSET: 'NO_SUCH_VARIABLE' },
      env: { OWN: 'own' },
    };
    const environments = createEnvironments();
    environments.ready('elsewhere', { handle: 'one', launcher: commandLauncher({ prefix: ['env'] }) });
    const there = { ...config, environment: 'elsewhere' };
    await using thread = createThread({ servers: { here: config, there }, environments });
    await using step = await thread.beginStep();
    const read = async (name: string): Promise<unknown> =>
      JSON.parse(textOf(await step.callTool(`mcp__${name}__env`, { names: [...variables, 'OWN'] })));
    expect(await read('here')).toEqual({ ALIAS: 'seeded-value', OWN: 'own', UNSET: null });
    expect(await read('there')).toEqual({ ALIAS: null, OWN: 'own', UNSET: null });
  });

  test('RT-5 a changed value is another server, and an unchanged one the same', async () => {
    const servers = { one: { ...stdioServerConfig({ tools: ['env'] }), envFrom: { ALIAS: 'SEEDED' } } };
    vi.stubEnv('SEEDED', 'first-value');
    await using thread = createThread({ servers });
    await thread.ready();
    const { pid } = serverOf(thread, 'one');
    await thread.replaceRuntime({ servers });
    expect(serverOf(thread, 'one').pid).toBe(pid);
    vi.stubEnv('SEEDED', 'second-value');
    await thread.replaceRuntime({ servers });
    expect(serverOf(thread, 'one').pid).not.toBe(pid);
  });
});

describe('a stream of catalogs', () => {
  test('CA-7 each catalog replaces the runtime, and one that comes to the same replaces nothing', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const catalog$ = new Subject<Catalog>();
    await using thread = createThread({ catalog: catalog$ });
    const watch = new Watch(thread);
    catalog$.next(catalogOf({ one: peer.config }));
    await thread.ready();
    catalog$.next(catalogOf({ one: { ...peer.config } }));
    catalog$.next(catalogOf({ one: peer.config, two: peer.config }));
    await watch.until(published(2));
    expect(watch.of('runtime.starting').map(({ generation }) => generation)).toEqual([1, 2]);
    expect(await toolNames(thread)).toEqual(['mcp__one__echo', 'mcp__two__echo']);
  });

  test('RT-4 of a burst the latest wins, and an unchanged server keeps its connection', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const catalog$ = new Subject<Catalog>();
    await using thread = createThread({ catalog: catalog$ });
    const watch = new Watch(thread);
    catalog$.next(catalogOf({ kept: peer.config }));
    await thread.ready();
    const { connection } = serverOf(thread, 'kept');
    for (const extra of ['a', 'b', 'c']) catalog$.next(catalogOf({ kept: peer.config, [extra]: peer.config }));
    await watch.until(published(4));
    expect(await toolNames(thread)).toEqual(['mcp__kept__echo', 'mcp__c__echo']);
    expect(serverOf(thread, 'kept').connection).toBe(connection);
  });

  test('CA-7 a catalog after another replacement is compared with that one', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const catalog$ = new Subject<Catalog>();
    await using thread = createThread({ catalog: catalog$ });
    const watch = new Watch(thread);
    catalog$.next(catalogOf({ one: peer.config }));
    await thread.ready();
    await thread.replaceRuntime({ servers: { two: peer.config } });
    catalog$.next(catalogOf({ one: peer.config }));
    await watch.until(published(3));
    expect(await toolNames(thread)).toEqual(['mcp__one__echo']);
  });

  test('CA-4 a catalog that cannot be published is a warning, the last stays, and the same again is tried again', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const catalog$ = new Subject<Catalog>();
    await using thread = createThread({ catalog: catalog$ });
    const watch = new Watch(thread);
    catalog$.next(catalogOf({ one: peer.config }));
    await thread.ready();
    const broken = catalogOf({ one: peer.config, bad: { command: '/nowhere/at-all', required: true } });
    catalog$.next(broken);
    await watch.until((fact) => fact.type === 'warning' && fact.code === 'catalog_failed');
    expect(thread.snapshot().generation).toBe(1);
    const seen = watch.facts.length;
    catalog$.next(broken);
    await watch.until((fact) => fact.type === 'warning' && fact.code === 'catalog_failed', seen);
    expect(watch.of('runtime.starting').map(({ generation }) => generation)).toEqual([1, 2, 3]);
  });

  test('RT-12 a stream that fails, or says what is no catalog, is a warning, and the last runtime stays', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    const catalog$ = new Subject<Catalog>();
    await using thread = createThread({ catalog: catalog$ });
    const watch = new Watch(thread);
    catalog$.next(catalogOf({ one: peer.config }));
    await thread.ready();
    catalog$.next(null as unknown as Catalog);
    catalog$.next(catalogOf({ one: peer.config, huge: { command: 1n as unknown as string } }));
    catalog$.error(new Error('the disk is gone'));
    await watch.until((fact) => fact.type === 'warning' && fact.message.includes('the disk is gone'));
    expect(watch.of('warning').map(({ code }) => code)).toEqual(['catalog_failed', 'catalog_failed']);
    expect(await toolNames(thread)).toEqual(['mcp__one__echo']);
  });

  test('RT-6 a stream that ends is fine after a catalog, and fails `ready` before one', async () => {
    await using peer = scriptedServer({ tools: ['echo'] });
    await using fine = createThread({ catalog: of(catalogOf({ one: peer.config })) });
    expect(await toolNames(fine)).toEqual(['mcp__one__echo']);
    for (const catalog of [EMPTY, throwError(() => new Error('no file'))]) {
      await using thread = createThread({ catalog });
      await expect(thread.ready()).rejects.toMatchObject({ code: 'runtime_failed' });
      await thread.replaceRuntime({ servers: { one: peer.config } });
      expect(await toolNames(thread)).toEqual(['mcp__one__echo']);
    }
  });

  test('H10 closing unsubscribes, and nothing comes through after it', async () => {
    let unsubscribed = 0;
    const catalog$ = new Observable<Catalog>((subscriber) => {
      subscriber.next(catalogOf({}));
      return () => {
        unsubscribed += 1;
      };
    });
    const thread = createThread({ catalog: catalog$ });
    await thread.ready();
    await thread.close();
    expect(unsubscribed).toBe(1);
  });
});

describe('a projection', () => {
  test('CA-7 is the same by value, and by reference where code gave an object', () => {
    const inMemory = (): never => {
      throw new Error('not started');
    };
    const project = (servers: ServerMap): RuntimeServers => toRuntimeServers(catalogOf(servers));
    const a = { command: 'x', args: ['y'], env: { A: '1' } };
    expect(isSameProjection(project({ a }), project({ a: structuredClone(a) }))).toBe(true);
    expect(isSameProjection(project({ a }), project({ a: { ...a, args: ['z'] } }))).toBe(false);
    expect(isSameProjection(project({ a }), project({ b: a }))).toBe(false);
    expect(isSameProjection(project({ a: { inMemory } }), project({ a: { inMemory } }))).toBe(true);
    expect(isSameProjection(project({ a: { inMemory } }), project({ a: { inMemory: () => inMemory() } }))).toBe(false);
    expect(isSameProjection(project({ a }), project({ a, b: a }))).toBe(false);
    expect(isSameProjection(project({ a, b: a }), project({ b: a, a }))).toBe(true);
    expect(isSameProjection(project({ a }), { ...project({ a }), secrets: ['another'] })).toBe(false);
    const transport = { start: inMemory, send: inMemory, close: inMemory, self: {} };
    transport.self = transport;
    expect(isSameProjection(project({ a: { transport } }), project({ a: { transport } }))).toBe(true);
    expect(isSameProjection(project({ a: { transport } }), project({ a: { transport: { ...transport } } }))).toBe(
      false,
    );
  });
});
