/** The scripted server as a process: its script is its one argument, its client is on stdio. */
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { parseScript } from './script.ts';
import { serveTransport } from './serve-transport.ts';
import { Stage } from './stage.ts';

const script = parseScript(process.argv[2] ?? '{}');
const stage = new Stage(script);
stage.journal.add({ kind: 'started' });

if (script.stderrOnStart !== undefined) process.stderr.write(script.stderrOnStart);
for (const line of script.stdoutOnStart ?? []) process.stdout.write(`${line}\n`);
if (script.stubborn !== undefined) setInterval(() => undefined, 2 ** 31 - 1);
if (script.stubborn === 'sigterm') process.on('SIGTERM', () => undefined);

if (script.exitOnStart !== undefined) {
  const { code, stderr } = script.exitOnStart;
  // The exit waits for the write: on a pipe it is not done when `write` returns.
  process.stderr.write(stderr ?? '', () => process.exit(code ?? 1));
} else if (script.hangOnStart === true) {
  process.stdin.resume();
} else {
  await serveTransport(stage, { kind: 'child', crash: (code) => process.exit(code) }, new StdioServerTransport());
}
