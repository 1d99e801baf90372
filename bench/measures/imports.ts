/** What `import 'holdfast'` adds to importing the SDK's client (PE-5), in fresh processes by turns. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { spreadOf } from '../stats.ts';
import { isQuick, progress, report } from './measure.ts';

const run = promisify(execFile);
const rounds = isQuick ? 5 : 15;

const client = `await import('@modelcontextprotocol/client'); const client = performance.now() - begin;`;
const program = `const begin = performance.now(); ${client} await import('holdfast');
process.stdout.write(client + ' ' + (performance.now() - begin - client))`;

progress('imports');
const clientMs: number[] = [];
const addedMs: number[] = [];
for (let round = 0; round < rounds; round++) {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const [first, second] = stdout.split(' ').map(Number);
  clientMs.push(first ?? Number.NaN);
  addedMs.push(second ?? Number.NaN);
}
report([{ clientMs: spreadOf(clientMs), addedMs: spreadOf(addedMs) }]);
