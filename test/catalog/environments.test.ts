/** Environments that come and go, and what a thread makes of it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY, Subject, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandLauncher, createCatalogBuilder, createEnvironments, createThread } from '../../src/index.ts';
import type { EnvironmentStates, Launcher, SelectedRoot, ServerConfig, ThreadEvent } from '../../src/index.ts';
import { placeServers } from '../../src/catalog/environments.ts';
import { identityOf } from '../../src/actors/identity.ts';
import { deferred, stdioServerConfig } from '../../src/testing/index.ts';
import { errorOf, serverOf, textOf, turns, Watch } from '../integration/runtimes/support.ts';

const launcher = commandLauncher({ prefix: ['env'] });
const inBox = (config: ServerConfig): ServerConfig => ({ ...config, environment: 'box' });

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-plugins-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function plugin(id: string, servers?: Readonly<Record<string, ServerConfig>>, text?: string): SelectedRoot {
  const path = join(directory, id);
  mkdirSync(path);
  if (servers !== undefined) writeFileSync(join(path, '.mcp.json'), text ?? JSON.stringify({ mcpServers: servers }));
  return { plugin: { id, name: id }, environment: 'box', path };
}

/** A launcher that notes what it reads. */
function reading(): { readonly launcher: Launcher; readonly read: string[] } {
  const read: string[] = [];
  return {
    read,
    launcher: {
      launch: (request) => launcher.launch(request),
      readFile: (path, options) => {
        read.push(path);
        return launcher.readFile?.(path, options) ?? Promise.resolve(undefined);
      },
    },
  };
}

const failedWith = (text: string) => (fact: ThreadEvent) =>
  fact.type === 'server.changed' && fact.state === 'failed' && fact.error?.message.includes(text) === true;

const published = (generation: number) => (fact: { readonly type: string; readonly generation?: number }) =>
  fact.type === 'runtime.published' && fact.generation === generation;

describe('the registry', () => {
  test.each<readonly [string, unknown, string]>([
    ['no list', 'x', 'Expected "roots" to be a list of plugins, got "x".'],
    ['no root', [{}], 'Expected each root as { plugin: { id, name }, environment, path }, got {}.'],
    [
      'a relative path',
      [{ plugin: { id: 'kit', name: 'Kit' }, environment: 'local', path: 'plugins/kit' }],
      'Expected the absolute path of plugin "kit", got "plugins/kit".',
    ],
  ])('CA-7 refuses roots that are %s', (_what, roots, message) => {
    expect(() => createEnvironments({ roots: roots as never })).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message }) as Error,
    );
  });

  test.each(['/plugins/kit', 'C:\\plugins\\kit', '\\\\host\\kit'])('CA-7 takes %j for an absolute path', (path) => {
    const roots = [{ plugin: { id: 'kit', name: 'Kit' }, environment: 'box', path }];
    expect(createEnvironments({ roots }).roots).toEqual(roots);
  });

  test.each<readonly [string, unknown]>([
    ['without a launcher', { handle: 'one' }],
    ['whose launcher is none', { handle: 'one', launcher: {} }],
    ['without a handle', { launcher }],
    ['that is none', undefined],
  ])('CA-7 refuses a ready place %s', (_what, place) => {
    const environments = createEnvironments();
    expect(() => environments.ready('box', place as never)).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }) as Error,
    );
    expect(() => environments.starting('')).toThrow(expect.objectContaining({ code: 'invalid_argument' }) as Error);
    expect(environments.states).toEqual({});
  });

  test('CA-7 tells the states of now, then each change, and nothing that is none', () => {
    const environments = createEnvironments();
    environments.starting('a');
    const seen: EnvironmentStates[] = [];
    const subscription = environments.states$.subscribe((states) => seen.push(states));
    environments.starting('a');
    environments.ready('a', { handle: 'one', launcher });
    environments.ready('a', { handle: 'one', launcher: commandLauncher({ prefix: ['nice'] }) });
    environments.ready('a', { handle: 'two', launcher });
    environments.failed('a', 'It burned down.');
    environments.failed('a', 'It burned down.');
    environments.remove('b');
    environments.remove('a');
    subscription.unsubscribe();
    environments.starting('a');
    expect(seen).toEqual([
      { a: { kind: 'starting' } },
      { a: { kind: 'ready', handle: 'one', launcher } },
      { a: { kind: 'ready', handle: 'two', launcher } },
      { a: { kind: 'failed', reason: 'It burned down.' } },
      {},
    ]);
    expect(environments.states).toEqual({ a: { kind: 'starting' } });
  });

  test('CA-7 ids of any name are only names', () => {
    const servers = { a: { command: 'x', environment: 'constructor' }, b: { command: 'x', environment: '__proto__' } };
    const { places = {} } = placeServers({ servers }, {});
    expect(Object.entries(places).map(([name, place]) => [name, 'problem' in place])).toEqual([
      ['a', true],
      ['b', true],
    ]);
  });
});

describe('identity', () => {
  test('RT-5 environment and handle are part of it, the launcher is not', () => {
    const config = { command: 'x', environment: 'box' };
    const one = identityOf('a', config, { handle: 'one', launcher });
    expect(identityOf('a', config, { handle: 'one', launcher: commandLauncher({ prefix: ['nice'] }) })).toBe(one);
    expect(identityOf('a', config, { handle: 'two', launcher })).not.toBe(one);
    expect(identityOf('a', { ...config, environment: 'other' }, { handle: 'one', launcher })).not.toBe(one);
    expect(identityOf('a', config, { problem: 'none' })).not.toBe(one);
    expect(identityOf('a', { command: 'x' })).toBe(identityOf('a', { command: 'x', environment: 'local' }));
  });
});

describe('servers of an environment', () => {
  test('CA-7 RT-5 fail with its reason while it is not ready, start when it is, and start anew at another handle only', async () => {
    const environments = createEnvironments();
    const config = inBox(stdioServerConfig({ tools: ['pid', 'echo'] }));
    await using thread = createThread({ servers: { there: config, here: stdioServerConfig() }, environments });
    const watch = new Watch(thread);
    await thread.ready();
    const { pid } = serverOf(thread, 'here');
    expect(serverOf(thread, 'there')).toMatchObject({
      state: 'failed',
      error: { code: 'server_unavailable' },
    });
    expect(serverOf(thread, 'there').error?.message).toContain('known environment, got "box"');
    environments.starting('box');
    await watch.until(failedWith('it is starting'));
    environments.failed('box', 'No room.');
    await watch.until(failedWith('it failed: No room.'));
    environments.ready('box', { handle: 'one', launcher });
    await watch.untilServer('there', 'ready');
    const first = serverOf(thread, 'there').pid;
    environments.ready('box', { handle: 'one', launcher: commandLauncher({ prefix: ['nice'] }) });
    environments.starting('another');
    await turns(3);
    expect(serverOf(thread, 'there').pid).toBe(first);
    const from = watch.facts.length;
    environments.ready('box', { handle: 'two', launcher });
    await watch.until((fact) => fact.type === 'runtime.published', from);
    await watch.untilServer('there', 'ready', from);
    expect(serverOf(thread, 'there').pid).not.toBe(first);
    expect(serverOf(thread, 'here').pid).toBe(pid);
  });

  test('CA-7 without environments one that is not here does not start here', async () => {
    await using thread = createThread({ servers: { there: inBox(stdioServerConfig()) } });
    await thread.ready();
    expect(serverOf(thread, 'there')).toMatchObject({ state: 'failed', error: { code: 'server_unavailable' } });
  });

  test('CA-7 RT-3 a required one fails the first runtime, and the thread is ready with its environment', async () => {
    const environments = createEnvironments();
    const there = { ...inBox(stdioServerConfig({ tools: ['echo'] })), required: true };
    await using thread = createThread({ servers: { there }, environments });
    expect((await errorOf(thread.ready())).code).toBe('runtime_failed');
    const watch = new Watch(thread);
    environments.ready('box', { handle: 'one', launcher });
    await watch.until((fact) => fact.type === 'runtime.published');
    await thread.ready();
    await using step = await thread.beginStep();
    expect(textOf(await step.callTool('mcp__there__echo', { text: 'hi' }))).toBe('hi');
  });

  test('CA-7 J1 a replacement names servers under the environments of now, and later changes keep to it', async () => {
    const environments = createEnvironments();
    await using thread = createThread({ servers: {}, environments });
    const watch = new Watch(thread);
    await thread.ready();
    environments.ready('box', { handle: 'one', launcher });
    await thread.replaceRuntime({ servers: { there: inBox(stdioServerConfig()) } });
    expect(serverOf(thread, 'there').state).toBe('ready');
    const from = watch.facts.length;
    environments.remove('box');
    await watch.until((fact) => fact.type === 'runtime.published', from);
    expect(serverOf(thread, 'there').state).toBe('failed');
  });
});

describe('a replacement that fails', () => {
  test('CA-7 J1 is not tried again by a change of the environments: what was asked for before counts', async () => {
    const environments = createEnvironments();
    await using thread = createThread({ servers: { there: inBox(stdioServerConfig()) }, environments });
    const watch = new Watch(thread);
    await thread.ready();
    const nowhere = { command: 'holdfast-no-such-command', required: true };
    expect((await errorOf(thread.replaceRuntime({ servers: { nowhere } }))).code).toBe('runtime_failed');
    const aborting = new AbortController();
    const aborted = errorOf(
      thread.replaceRuntime({ servers: { mine: stdioServerConfig() } }, { signal: aborting.signal }),
    );
    aborting.abort();
    expect((await aborted).code).toBe('aborted');
    const from = watch.facts.length;
    environments.ready('box', { handle: 'one', launcher });
    await watch.until((fact) => fact.type === 'runtime.published', from);
    await watch.untilServer('there', 'ready');
    expect(new Set(thread.snapshot().servers.map(({ name }) => name))).toEqual(new Set(['there']));
    expect(watch.of('warning')).toEqual([]);
  });
});

describe('selected plugins', () => {
  test('CA-7 an unchanged projection replaces nothing, and each plugin is read once', async () => {
    const roots = [plugin('docs', { docs: stdioServerConfig({ tools: ['echo'] }) }), plugin('none')];
    const environments = createEnvironments({ roots });
    const { launcher: noting, read } = reading();
    await using thread = createThread({ servers: {}, environments });
    const watch = new Watch(thread);
    await thread.ready();
    environments.starting('box');
    environments.starting('unrelated');
    environments.ready('box', { handle: 'one', launcher: noting });
    await watch.until(published(2));
    environments.ready('unrelated', { handle: 'x', launcher });
    environments.remove('unrelated');
    await turns(3);
    expect(thread.snapshot().generation).toBe(2);
    environments.starting('box');
    await watch.until(published(3));
    expect(thread.snapshot().servers.filter(({ generations }) => generations.includes(3))).toEqual([]);
    environments.ready('box', { handle: 'one', launcher: noting });
    await watch.until(published(4));
    expect(serverOf(thread, 'docs').state).toBe('ready');
    expect(read.toSorted()).toEqual(roots.flatMap(({ path }) => [`${path}/.app.json`, `${path}/.mcp.json`]).toSorted());
  });

  test('CA-5 CA-7 configured servers win over them, and the smaller order among them', async () => {
    const environments = createEnvironments({
      roots: [
        { ...plugin('second', { shared: { command: 'second', enabled: false } }), order: 2 },
        { ...plugin('first', { shared: { command: 'first', enabled: false }, mine: { command: 'first' } }), order: 1 },
      ],
    });
    environments.ready('box', { handle: 'one', launcher });
    const catalog = createCatalogBuilder()
      .registerAll({ kind: 'config' }, { servers: { mine: { command: 'configured', enabled: false } } })
      .build();
    await using thread = createThread({ catalog, environments });
    const watch = new Watch(thread);
    await watch.until((fact) => fact.type === 'runtime.published' && thread.snapshot().servers.length === 2);
    expect(serverOf(thread, 'shared')).toMatchObject({ state: 'disabled', provenance: { plugin: { id: 'first' } } });
    expect(serverOf(thread, 'mine')).toMatchObject({ state: 'disabled', provenance: { source: 'config' } });
  });

  test('CA-7 RT-12 one that cannot be read is a warning, harms no other, and is read again at the next change', async () => {
    const environments = createEnvironments({
      roots: [plugin('bad', {}, '{'), plugin('good', { good: { command: 'x', enabled: false } })],
    });
    await using thread = createThread({ servers: {}, environments });
    const watch = new Watch(thread);
    await thread.ready();
    environments.ready('box', { handle: 'one', launcher });
    const warning = await watch.until((fact) => fact.type === 'warning');
    expect(warning).toMatchObject({ code: 'plugin_invalid' });
    expect(warning).toHaveProperty('message', expect.stringContaining('"bad"'));
    await watch.until(published(2));
    expect(serverOf(thread, 'good').state).toBe('disabled');
    writeFileSync(join(directory, 'bad', '.mcp.json'), JSON.stringify({ mcp: { command: 'x', enabled: false } }));
    environments.starting('unrelated');
    await watch.until(published(3));
    expect(serverOf(thread, 'mcp').state).toBe('disabled');
  });

  test('CA-7 H10 closing ends what is being read, and nothing comes after it', async () => {
    const begun = deferred();
    const ended = deferred();
    const environments = createEnvironments({ roots: [plugin('slow')] });
    environments.ready('box', {
      handle: 'one',
      launcher: {
        launch: (request) => launcher.launch(request),
        readFile: (_, { signal }) => {
          begun.resolve();
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              ended.resolve();
              reject(new Error('aborted'));
            });
          });
        },
      },
    });
    const thread = createThread({ servers: {}, environments });
    const watch = new Watch(thread);
    await begun.promise;
    await thread.close();
    await ended.promise;
    environments.remove('box');
    expect(watch.of('warning')).toEqual([]);
  });

  test('CA-7 RT-12 a stream of states that fails is a warning, and the last states stay', async () => {
    const states$ = new Subject<EnvironmentStates>();
    await using thread = createThread({
      servers: { there: inBox(stdioServerConfig()) },
      environments: { states$ },
    });
    const watch = new Watch(thread);
    states$.next({ box: { kind: 'ready', handle: 'one', launcher } });
    await thread.ready();
    states$.error(new Error('gone'));
    expect(await watch.until((fact) => fact.type === 'warning')).toMatchObject({ code: 'environment_failed' });
    expect(serverOf(thread, 'there').state).toBe('ready');
  });

  test.each([
    ['fails', throwError(() => new Error('gone'))],
    ['ends', EMPTY],
    ['is none', null],
  ])('CA-7 RT-12 a thread whose stream of states %s before it gave any has this machine', async (_, given) => {
    const environments = { states$: given } as { readonly states$: Observable<EnvironmentStates> };
    await using thread = createThread({ servers: { here: stdioServerConfig() }, environments });
    await thread.ready();
    expect(serverOf(thread, 'here').state).toBe('ready');
  });
});
