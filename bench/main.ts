/**
 * `npm run bench`: builds the package, then runs every measure in a process of its own and prints what it found.
 *
 * `--json` prints one JSON value instead of tables; `--quick` runs fewer and shorter rounds; `--only <name>` (memory, stdio,
 * http, own-cost, replacement, threads, questions, imports, configuration; more than once or with commas) picks; `--no-build` measures
 * what `dist` has.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measures, programs } from './measures.ts';
import type { Measure } from './measures.ts';
import { render } from './report.ts';
import { addResult, noResults } from './results.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
/** Longest one measure may take. */
const measureTimeoutMs = 240_000;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    'no-build': { type: 'boolean', default: false },
  },
});
const chosen = choose(values.only.flatMap((names) => names.split(',')));

if (!values['no-build']) {
  process.stderr.write('building\n');
  await run(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], 'inherit');
}
const results = noResults();
const failed: string[] = [];
for (const measure of chosen) {
  process.stderr.write(`${measure.name} ${measure.args.join(' ')}\n`);
  try {
    addResult(results, measure.file, await run(commandOf(measure), 'pipe'));
  } catch (error) {
    failed.push(`${measure.name} ${measure.args.join(' ')}`);
    process.stderr.write(`  ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
if (values.json) {
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model ?? '' };
  process.stdout.write(`${JSON.stringify({ quick: values.quick, machine, failed, ...results })}\n`);
} else {
  process.stdout.write(render(results));
}
if (failed.length > 0) process.exitCode = 1;

function choose(names: readonly string[]): readonly Measure[] {
  const known = new Set(measures.map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    process.stderr.write(`Expected --only to name one of ${[...known].join(', ')}, got "${unknown}".\n`);
    process.exit(2);
  }
  return names.length === 0 ? measures : measures.filter(({ name }) => names.includes(name));
}

/** What is measured is the compiled package; only the measures themselves are run from TypeScript. */
function commandOf({ file, args }: Measure): readonly string[] {
  return ['--conditions=production', '--expose-gc', '--import', 'tsx', fileURLToPath(programs[file]), ...args];
}

/** Runs node and resolves with its output; rejects if it fails. */
async function run(args: readonly string[], output: 'pipe' | 'inherit'): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', output === 'pipe' ? 'pipe' : 2, 'inherit'],
    timeout: measureTimeoutMs,
    env: {
      ...process.env,
      // Without the paths that lead `holdfast` to the sources.
      TSX_TSCONFIG_PATH: 'tsconfig.build.json',
      BENCH_QUICK: values.quick ? '1' : '0',
    },
  });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [code, signal] = (await once(child, 'close')) as readonly unknown[];
  if (code !== 0) throw new Error(`Expected it to end with 0, got ${String(signal ?? code)}.`);
  return text;
}
