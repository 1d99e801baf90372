/** Tells whether `dist` is what the sources come to, by time. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether every module of `src` was built after the last change of any of them, or of how they are built.
 *
 * A build that was broken off counts as none: it left modules out, or older than the change it was for.
 *
 * @param {string} root The directory of the package.
 * @returns {boolean}
 */
export function isBuilt(root) {
  const sources = join(root, 'src');
  const entries = readdirSync(sources, { withFileTypes: true, recursive: true });
  const inputs = [
    sources,
    ...entries.map((entry) => join(entry.parentPath ?? entry.path, entry.name)),
    ...['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map((file) => join(root, file)),
  ];
  const changedAt = Math.max(...inputs.map(timeOf));
  return inputs
    .filter((file) => file.startsWith(sources) && file.endsWith('.ts'))
    .every((file) => timeOf(join(root, 'dist', `${file.slice(sources.length, -3)}.js`)) >= changedAt);
}

/** When a file last changed; of none, before everything. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
