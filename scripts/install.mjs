/** Installs the dependencies when, and only when, what is installed is not what the lock file says. */
import { readFileSync } from 'node:fs';
import { npm, root } from './process.mjs';

/**
 * Resolves with `true` when the dependencies are in place.
 *
 * Versions are compared, not times: a fresh checkout over a kept node_modules installs nothing.
 *
 * @returns {Promise<boolean>}
 */
export async function ensureInstalled() {
  if (isInstalled()) return true;
  process.stdout.write('Installing dependencies (npm ci) …\n');
  return (await npm('ci', '--include=dev', '--no-audit', '--no-fund')) === 0 && isInstalled();
}

function isInstalled() {
  const wanted = readPackages('package-lock.json');
  const present = readPackages('node_modules/.package-lock.json');
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || mayBeAbsent(entry) || present[path]?.version === entry.version,
  );
}

/** Optional packages of other platforms are in the lock file and never on this disk. */
function mayBeAbsent(entry) {
  return entry.optional === true || (entry.devOptional === true && (entry.os ?? entry.cpu) !== undefined);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(`${root}${file}`, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
