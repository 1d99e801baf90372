/** Reading a configuration of 1,000 servers, and resolving a catalog of 1,000 registrations (SPEC CA-1, CA-5). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createCatalogBuilder, toRuntimeServers } from 'holdfast';
import type { ServerConfig, ServerSource } from 'holdfast';
import { readConfig } from 'holdfast/config';
import { spreadOf } from '../stats.ts';
import { isQuick, progress, report } from './measure.ts';

const count = 1_000;
const rounds = isQuick ? 5 : 25;

/** Half of them processes, half of them urls; each with a variable in it, as people write them. */
const entries = Array.from({ length: count }, (_, index): readonly [string, object] => [
  `server-${String(index)}`,
  index % 2 === 0
    ? { command: 'npx', args: ['-y', `package-${String(index)}`], env: { API_KEY: '${BENCH_KEY}', LEVEL: 'info' } }
    : { url: `https://host-${String(index)}.example/mcp`, headers: { Authorization: 'Bearer ${BENCH_KEY}' } },
]);

/** Names that collide among plugins, over and under configured ones. */
function registrations(): readonly {
  readonly name: string;
  readonly source: ServerSource;
  readonly config: ServerConfig;
}[] {
  return Array.from({ length: count }, (_, index) => {
    const plugin = { id: `plugin-${String(index % 50)}`, name: 'Plugin' };
    const source: ServerSource = index % 3 === 0 ? { kind: 'config' } : { kind: 'plugin', plugin, order: index % 50 };
    return { name: `server-${String(index % 600)}`, source, config: { command: 'npx', args: ['-y', String(index)] } };
  });
}

async function timed(what: string, run: () => Promise<number> | number): Promise<object> {
  progress(what);
  const samples: number[] = [];
  await run();
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    await run();
    samples.push(performance.now() - begin);
  }
  return { what, count, ms: spreadOf(samples) };
}

const directory = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
try {
  const results: object[] = [];
  const env = { BENCH_KEY: 'key-of-the-bench' };
  for (const [name, document] of [
    ['holdfast.json', { mcpServers: Object.fromEntries(entries) }],
    ['.mcp.json', { mcpServers: Object.fromEntries(entries) }],
  ] as const) {
    const file = join(directory, name);
    await writeFile(file, JSON.stringify(document, null, 2));
    results.push(
      await timed(`read ${name}`, async () => {
        const { servers } = await readConfig([file], { env });
        const found = Object.keys(servers).length;
        if (found !== count) throw new Error(`Expected ${String(count)} servers, got ${String(found)}.`);
        return found;
      }),
    );
  }
  const given = registrations();
  results.push(
    await timed('resolve a catalog', () => {
      const builder = createCatalogBuilder().require({ source: 'bench', allow: [{ command: 'npx' }] });
      for (const registration of given) builder.register(registration);
      return Object.keys(toRuntimeServers(builder.build()).servers).length;
    }),
  );
  report(results);
} finally {
  await rm(directory, { recursive: true, force: true });
}
