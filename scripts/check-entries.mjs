/** Imports every entry by the name a user writes, from what was built, and starts the command: all of it must load. */
import { readFileSync } from 'node:fs';
import { root, run } from './process.mjs';

const { name, version, exports, bin } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const entries = Object.keys(exports).filter((subpath) => !subpath.endsWith('.json'));

for (const subpath of entries) {
  const specifier = `${name}${subpath.slice(1)}`;
  const names = Object.keys(await import(specifier));
  if (names.length === 0) throw new Error(`Expected ${specifier} to export something, got nothing.`);
  process.stdout.write(`${specifier}: ${names.length} names\n`);
}

const code = await run(process.execPath, [`${root}${bin[name]}`, '--version']);
if (code !== 0)
  throw new Error(`Expected ${name} --version to print ${version} and end with 0, it ended with ${code}.`);
