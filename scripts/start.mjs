/**
 * `npm start`: the main job in one command, from a fresh clone.
 *
 * Installs, and builds what changed; then, with a terminal, opens the shell on the quickstart's servers, and without one plays the
 * quickstart's story and ends with its exit code. Arguments go to the command instead: `npm start -- status`.
 */
import { ensureInstalled } from './install.mjs';
import { isBuilt } from './is-built.mjs';
import { npm, root, run, runInstalled } from './process.mjs';

const args = process.argv.slice(2);
const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;

async function main() {
  if (!(await ensureInstalled())) return 1;
  if (!isBuilt(root)) {
    // Not on stdout: what a command prints there may be read by a program.
    process.stderr.write('Building …\n');
    const built = await npm('run', '--silent', 'build');
    if (built !== 0) return built;
  }
  if (args.length === 0 && !hasTerminal) return runInstalled('tsx/dist/cli.mjs', ['examples/quickstart/story.ts']);
  const command = args.length === 0 ? ['--config', `${root}examples/quickstart/holdfast.json`] : args;
  return run(process.execPath, [`${root}dist/cli/main.js`, ...command], { stdin: 'inherit' });
}

process.exitCode = await main();
