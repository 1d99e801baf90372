/** Programs of the operating system that tests start. Installed from Debian's packages where they are missing and may be. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './process.mjs';

/** Program → the Debian package that brings it. */
const programs = { openssl: 'openssl' };

/**
 * Installs what is missing, as root on a Debian machine; elsewhere says what is missing and goes on: the tests that need it
 * will say so too.
 *
 * @returns {Promise<void>}
 */
export async function ensureSystemPrograms() {
  const missing = Object.entries(programs).filter(([program]) => !isOnPath(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    process.stdout.write(
      `Missing programs that tests start: ${packages.join(', ')}. Install them to run every test.\n`,
    );
    return;
  }
  process.stdout.write(`Installing ${packages.join(', ')} (apt-get) …\n`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-qq', '-y', '--no-install-recommends', ...packages], { env });
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}
