/**
 * Writes docs/statecharts from the machines (SPEC IN-3). `--check` writes nothing and fails when a page is not what the
 * machines say.
 */
import { fileURLToPath } from 'node:url';
import * as machines from '../src/machines/index.ts';
import { findDrift, renderFiles, writeFiles } from './statecharts/files.ts';

const folder = fileURLToPath(new URL('../docs/statecharts/', import.meta.url));
const files = await renderFiles(machines);

if (process.argv.includes('--check')) {
  const drift = findDrift(folder, files);
  for (const difference of drift) process.stderr.write(`docs/statecharts/${difference}\n`);
  if (drift.length > 0) process.stderr.write('The pages are not what the machines say. Run "npm run docs".\n');
  process.exitCode = drift.length === 0 ? 0 : 1;
} else {
  writeFiles(folder, files);
}
