/** What runs as a server, in words a person can compare (SPEC PO-3). */
import { createHash } from 'node:crypto';
import type { ServerSettings, StdioServer } from '../domain/config.ts';

/** Variables whose values decide what a command runs. Of all others the names alone count. */
const decisive = /^(?:PATH|NODE_OPTIONS|NODE_PATH|PYTHONPATH|BASH_ENV|LD_.*|DYLD_.*)$/i;
const maxLength = 1_000;

/**
 * Names a process by its command, arguments, directory, environment and variables: another program has another name.
 *
 * `redact` takes secrets out of the words. A digest stands for all of them, secret arguments included, values of variables not.
 */
export function processOrigin(config: StdioServer & ServerSettings, redact: (text: string) => string): string {
  const { command, args = [], cwd, env = {}, envFrom = {}, environment = 'local' } = config;
  const values = Object.entries(env).map(([name, value]) => (decisive.test(name) ? `${name}=${value}` : name));
  const variables = [...values, ...Object.keys(envFrom)].toSorted();
  const digest = createHash('sha256').update(JSON.stringify([environment, command, args, cwd ?? '', variables]));
  let words = [command, ...args].map(quoted).join(' ');
  if (cwd !== undefined) words += ` in ${quoted(cwd)}`;
  if (environment !== 'local') words += ` in environment ${quoted(environment)}`;
  if (variables.length > 0) words += ` with ${variables.map(quoted).join(' ')}`;
  words = redact(words);
  if (words.length > maxLength) words = `${words.slice(0, maxLength)}…`;
  return `stdio: ${words} (${digest.digest('hex').slice(0, 16)})`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(word) ? word : JSON.stringify(word);
}
