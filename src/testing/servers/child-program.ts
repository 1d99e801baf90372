/** Which program a scripted child runs: the compiled one, or, when this is the source tree, one bundled from the source. */
import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Gives the path of the program.
 *
 * Node 20 does not run TypeScript, and a loader makes a child start in half a second; bundled by the esbuild that comes
 * with tsx it starts in an eighth. The bundle is kept in `node_modules/.cache` and made anew when a source changes.
 */
export function childProgram(): string {
  if (import.meta.url.endsWith('.js')) return fileURLToPath(new URL('./child.js', import.meta.url));
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const cache = join(root, 'node_modules', '.cache', 'holdfast');
  const program = join(cache, `child-${hashOf(root)}.mjs`);
  mkdirSync(cache, { recursive: true });
  if (readdirSync(cache).some((name) => program.endsWith(name))) return program;
  bundle(join(root, 'src/testing/servers/child.ts'), program);
  forgetOld(cache);
  return program;
}

function hashOf(root: string): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const folder of ['src/domain', 'src/testing', 'src/testing/servers']) {
    for (const name of readdirSync(join(root, folder))) {
      if (name.endsWith('.ts')) hash.update(name).update(readFileSync(join(root, folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Removes what earlier sources left; not the newest ones, which another test process may be about to start. */
function forgetOld(cache: string): void {
  const before = Date.now() - 3_600_000;
  for (const name of readdirSync(cache)) {
    const stats = statSync(join(cache, name), { throwIfNoEntry: false });
    if (stats !== undefined && stats.mtimeMs < before) rmSync(join(cache, name), { force: true });
  }
}

function bundle(entry: string, program: string): void {
  // Written aside and renamed: several test processes may do this at once.
  const aside = `${program}.${randomUUID()}`;
  const options = {
    entryPoints: [entry],
    outfile: aside,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  };
  const tsx = dirname(createRequire(import.meta.url).resolve('tsx/package.json'));
  execFileSync(process.execPath, ['-e', `require('esbuild').buildSync(${JSON.stringify(options)})`], { cwd: tsx });
  renameSync(aside, program);
}
