/** A configuration that is edited under traffic: what runs goes on, and what did not change is not touched. */
import { mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { concatMap, firstValueFrom, interval, lastValueFrom, map, Subject, take } from 'rxjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { watchConfig, type WatchConfigOptions } from '../../../src/config/index.ts';
import { createCatalogBuilder, createThread, type Thread } from '../../../src/index.ts';
import { serveHttp } from '../../../src/testing/index.ts';
import { textOf, turns, Watch } from '../runtimes/support.ts';

const edits = 200;

let directory = '';
let file = '';

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-edits-')));
  file = join(directory, 'holdfast.json');
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

function catalogOf(options: WatchConfigOptions = {}) {
  return watchConfig([file], { debounceMs: 10, ...options }).pipe(
    map((config) => createCatalogBuilder().registerAll({ kind: 'config', file }, config).build()),
  );
}

/** Calls until it is told to stop, step after step, four calls at a time; gives how many there were. */
async function traffic(thread: Thread, isOver: () => boolean): Promise<number> {
  let calls = 0;
  while (!isOver()) {
    await using step = await thread.beginStep();
    const texts = ['a', 'b', 'c', 'd'];
    const results = await Promise.all(texts.map((text) => step.callTool('mcp__docs__echo', { text })));
    expect(results.map(textOf)).toEqual(texts);
    calls += texts.length;
  }
  return calls;
}

describe('a watched file', () => {
  test('CA-4 RT-5 H1 H3 two hundred edits under traffic drop no call, reconnect nothing, and each publishes one runtime', async () => {
    await using docs = await serveHttp({ era: 'modern', name: 'docs' });
    await using extra = await serveHttp({ era: 'legacy', name: 'extra' });
    const save = async (edit: number): Promise<void> => {
      // Every tenth edit takes the second server out, or puts it back; every edit changes how the first is seen.
      const servers = {
        docs: { ...docs.config, callTimeoutMs: 100_000 + edit },
        ...(Math.floor(edit / 10) % 2 === 0 ? {} : { extra: extra.config }),
      };
      const text = JSON.stringify({ mcpServers: servers });
      if (edit % 2 === 0) await writeFile(file, text);
      else {
        await writeFile(`${file}.new`, text);
        await rename(`${file}.new`, file);
      }
    };
    await save(0);
    const warnings: string[] = [];
    await using thread = createThread({ catalog: catalogOf({ onWarning: ({ message }) => warnings.push(message) }) });
    const watch = new Watch(thread);
    await thread.ready();

    let isOver = false;
    const calls = traffic(thread, () => isOver);
    for (let edit = 1; edit <= edits; edit += 1) {
      await save(edit);
      await watch.until((fact) => fact.type === 'runtime.published' && fact.generation === edit + 1);
    }
    isOver = true;
    expect(await calls).toBeGreaterThan(edits);
    expect(warnings).toEqual([]);
    expect(
      watch
        .of('runtime.published')
        .map(({ generation }) => generation)
        .at(-1),
    ).toBe(edits + 1);
    expect(watch.of('call.ended').filter(({ outcome }) => outcome !== 'completed')).toEqual([]);
    const changes = watch.of('server.changed').filter(({ server }) => server === 'docs');
    expect(changes.map(({ state }) => state)).toEqual(['starting', 'ready']);
    await turns(3);
    expect(thread.snapshot().runtimes).toMatchObject([{ generation: edits + 1, state: 'current' }]);
  });

  test('CA-4 RT-6 bad edits under traffic replace nothing, and the first good one after them does', async () => {
    await using docs = await serveHttp({ name: 'docs' });
    const save = (callTimeoutMs: number) =>
      writeFile(file, JSON.stringify({ mcpServers: { docs: { ...docs.config, callTimeoutMs } } }));
    await save(100_000);
    const warnings$ = new Subject<string>();
    await using thread = createThread({
      catalog: catalogOf({ graceMs: 20, onWarning: ({ code }) => warnings$.next(code) }),
    });
    const watch = new Watch(thread);
    await thread.ready();
    let isOver = false;
    const calls = traffic(thread, () => isOver);
    for (const text of ['{', '{ "mcpServers": { "docs": ', '[]']) {
      const before = watch.of('runtime.published').length;
      const warned = firstValueFrom(warnings$);
      await writeFile(file, text);
      await warned;
      expect(watch.of('runtime.published')).toHaveLength(before);
    }
    await save(200_000);
    await watch.until((fact) => fact.type === 'runtime.published' && fact.generation === 2);
    isOver = true;
    expect(await calls).toBeGreaterThan(0);
    expect(watch.of('call.ended').filter(({ outcome }) => outcome !== 'completed')).toEqual([]);
  });

  test('CA-4 RT-4 fifty edits a second drop no call, publish only what was written, and end with the last', async () => {
    await using docs = await serveHttp({ era: 'modern', name: 'docs' });
    const save = (edit: number) =>
      writeFile(
        file,
        JSON.stringify({
          mcpServers: {
            docs: { ...docs.config, required: true },
            [`edit-${String(edit)}`]: { command: 'x', enabled: false },
          },
        }),
      );
    await save(0);
    const warnings: string[] = [];
    const catalog = catalogOf({ debounceMs: 75, onWarning: ({ message }) => warnings.push(message) });
    await using thread = createThread({ catalog });
    const watch = new Watch(thread);
    await thread.ready();
    let isOver = false;
    const calls = traffic(thread, () => isOver);
    await lastValueFrom(
      interval(20).pipe(
        take(100),
        concatMap((edit) => save(edit + 1)),
      ),
    );
    const isLast = () => thread.snapshot().servers.some(({ name }) => name === 'edit-100');
    await watch.until((fact) => fact.type === 'runtime.published' && isLast());
    isOver = true;
    expect(await calls).toBeGreaterThan(0);
    expect(warnings).toEqual([]);
    expect(watch.of('call.ended').filter(({ outcome }) => outcome !== 'completed')).toEqual([]);
    expect(
      watch
        .of('server.changed')
        .filter(({ server }) => server === 'docs')
        .map(({ state }) => state),
    ).toEqual(['starting', 'ready']);
    expect(watch.of('runtime.published').length).toBeLessThanOrEqual(101);
  });
});
