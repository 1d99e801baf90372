/**
 * Runs every example to its end; one that does not exit with 0 within two minutes fails the run.
 *
 * An example is a file directly in `examples/`, or a `main.ts` or `story.ts` in a folder of its own. What else such a
 * folder holds (servers, configuration) is what the example starts.
 */
import { existsSync, readdirSync } from 'node:fs';
import { root, runInstalled } from './process.mjs';

const timeoutMs = 120_000;

function findExamples() {
  const entries = readdirSync(`${root}examples`, { withFileTypes: true });
  return entries.flatMap((entry) => {
    if (entry.isFile()) return entry.name.endsWith('.ts') ? [`examples/${entry.name}`] : [];
    return ['main.ts', 'story.ts']
      .map((file) => `examples/${entry.name}/${file}`)
      .filter((file) => existsSync(`${root}${file}`));
  });
}

const examples = findExamples().toSorted();
const red = [];
for (const example of examples) {
  process.stdout.write(`\n── ${example}\n`);
  const code = await runInstalled('tsx/dist/cli.mjs', [example], { timeoutMs });
  if (code !== 0) red.push(`${example} (exit ${code})`);
}
if (examples.length === 0) red.push('expected examples in examples/, found none');
process.stdout.write(red.length === 0 ? `\n${examples.length} examples ran\n` : `\nred: ${red.join(', ')}\n`);
process.exitCode = red.length === 0 ? 0 : 1;
