/** Starts the programs the scripts need. Node built-ins only: it runs before anything is installed. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The directory of the package. */
export const root = fileURLToPath(new URL('../', import.meta.url));

/** What every child gets: no dependency may report home from a build. */
const quietEnv = { SCARF_ANALYTICS: 'false', DO_NOT_TRACK: '1' };

/**
 * Runs a program in the package's directory and resolves with its exit code (128 + n for a signal).
 *
 * Output goes straight to the terminal. SIGTERM and SIGINT of this process are handed on.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ stdin?: 'inherit' | 'ignore', stdout?: 'inherit' | 'stderr', env?: Record<string, string>, timeoutMs?: number }} [options]
 * `stdout: 'stderr'` where this process's own stdout is for something else.
 * @returns {Promise<number>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...quietEnv, ...options.env },
      stdio: [options.stdin ?? 'ignore', options.stdout === 'stderr' ? 2 : 'inherit', 'inherit'],
      timeout: options.timeoutMs,
    });
    const handOn = (signal) => {
      // A terminal sends its interrupt to the child itself; twice would be one too many.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    process.on('SIGTERM', handOn);
    process.on('SIGINT', handOn);
    const settle = (code) => {
      process.off('SIGTERM', handOn);
      process.off('SIGINT', handOn);
      resolve(code);
    };
    child.on('error', (error) => {
      process.stderr.write(`${command}: ${error.message}\n`);
      settle(127);
    });
    child.on('close', (code, signal) => settle(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}

/**
 * Runs npm itself, the one that runs this script where there is one.
 *
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
export function npm(...args) {
  return runNpm(args);
}

/**
 * Runs npm itself, as {@link npm} does, with options.
 *
 * @param {readonly string[]} args
 * @param {Parameters<typeof run>[2]} [options]
 * @returns {Promise<number>}
 */
export function runNpm(args, options) {
  const cli = process.env.npm_execpath;
  return cli?.endsWith('npm-cli.js') ? run(process.execPath, [cli, ...args], options) : run('npm', args, options);
}

/**
 * Runs an installed program by the file it lives in, without a shell.
 *
 * @param {string} file Path below node_modules.
 * @param {readonly string[]} args
 * @param {Parameters<typeof run>[2]} [options]
 * @returns {Promise<number>}
 */
export function runInstalled(file, args, options) {
  return run(process.execPath, [`${root}node_modules/${file}`, ...args], options);
}
