/** Which values of a server's configuration are secrets (SPEC SE-1). */
import type { ServerConfig } from './config.ts';

const minSecretLength = 8;

const harmlessVariables: ReadonlySet<string> = new Set(
  [
    'PATH PATHEXT HOME HOMEDRIVE HOMEPATH USERPROFILE PWD OLDPWD SHELL COMSPEC USER USERNAME USERDOMAIN LOGNAME HOSTNAME COMPUTERNAME',
    'LANG LANGUAGE TZ TERM COLORTERM TERM_PROGRAM NO_COLOR FORCE_COLOR COLUMNS LINES EDITOR VISUAL PAGER DISPLAY SHLVL CI DEBUG',
    'TMPDIR TEMP TMP APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES SYSTEMROOT SYSTEMDRIVE WINDIR OS PROCESSOR_ARCHITECTURE',
    'NODE_ENV NODE_PATH NODE_OPTIONS PYTHONPATH PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 VIRTUAL_ENV LOG_LEVEL RUST_LOG HOST PORT',
  ]
    .join(' ')
    .split(' '),
);

const harmlessHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'connection',
  'content-type',
  'host',
  'origin',
  'referer',
  'user-agent',
]);

/**
 * The secrets of a configuration, each once: values of 8 characters or more that came from headers, user info, query and
 * fragment values of urls, arguments after a flag named like token, key, secret or password, and environment values.
 *
 * Environment variables and headers whose names are plainly harmless (`PATH`, `NODE_ENV`, `Accept`) are not secret, nor is
 * what `notSecret` of the configuration lists, or what `isPlain` says is none. What
 * `headersFrom` and `bearerTokenVariable` name is not in the configuration: whoever reads those variables adds their values.
 */
export function secretsOf(config: ServerConfig, isPlain?: (value: string) => boolean): readonly string[] {
  const found = new Set<string>();
  if ('command' in config) {
    const args = config.args ?? [];
    addArguments(args, found);
    // A command line in one text, as `sh -c` takes it, or somebody took "command" for.
    for (const line of [config.command, ...args]) if (/\s/.test(line)) addArguments(wordsOf(line), found);
    for (const [name, value] of Object.entries(config.env ?? {})) if (!isHarmlessVariable(name)) addValue(value, found);
  }
  if ('url' in config) {
    addUrl(config.url, found);
    for (const [name, value] of Object.entries(config.headers ?? {})) addHeader(name, value, found);
  }
  for (const value of config.notSecret ?? []) found.delete(value);
  return [...found].filter((secret) => secret.length >= minSecretLength && isPlain?.(secret) !== true);
}

/**
 * Tells whether a configured value is a place that everybody here can see: an absolute path of something that exists, as
 * the working directory, the home directory and those above them are. `exists` asks the file system; never over a network.
 */
export function isPlace(value: string, exists: (path: string) => boolean): boolean {
  return /^(?:\/(?!\/)|[a-z]:[\\/])/i.test(value) && exists(value);
}

/** The configuration with `notSecret` for the values that would be taken for secrets and are known to be none. */
export function withPlain(config: ServerConfig, isPlain: (value: string) => boolean): ServerConfig {
  const notSecret = secretsOf(config).filter(isPlain);
  return notSecret.length === 0 ? config : { ...config, notSecret: [...(config.notSecret ?? []), ...notSecret] };
}

/** Tells whether an environment variable's name is one that never holds a secret. */
export function isHarmlessVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return harmlessVariables.has(upper) || upper.startsWith('LC_') || upper.startsWith('XDG_');
}

function addValue(value: string, found: Set<string>): void {
  found.add(value);
  addToken(value, found);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) addUrl(value, found);
}

/** `Bearer x`, `Basic x` and the like: the part after the scheme is the secret, wherever it turns up. */
function addToken(value: string, found: Set<string>): void {
  const token = /^(?:bearer|basic|token|digest|dpop|negotiate|api-?key|key)\s+(\S.*)$/i.exec(value.trim())?.[1];
  if (token !== undefined) found.add(token);
}

function addHeader(name: string, value: string, found: Set<string>): void {
  if (harmlessHeaders.has(name.trim().toLowerCase())) return;
  found.add(value.trim());
  addToken(value, found);
}

function addArguments(args: readonly string[], found: Set<string>): void {
  for (const [index, argument] of args.entries()) {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(argument)) addUrl(argument, found);
    const header = /^([\w-]+):\s*(\S.*)$/.exec(argument);
    const previous = args[index - 1] ?? '';
    if (
      header !== null &&
      (/^(?:-H|--headers?)$/.test(previous) || /^(?:proxy-)?authorization$/i.test(header[1] ?? ''))
    ) {
      addHeader(header[1] ?? '', header[2] ?? '', found);
    }
    const assigned = /^(?:--?)?([\w.-]+)=([^]+)$/.exec(argument);
    if (assigned !== null && isSecretName(assigned[1] ?? '')) addValue(assigned[2] ?? '', found);
    const flag = /^--?([\w.-]+)$/.exec(previous)?.[1];
    if (flag !== undefined && isSecretName(flag) && !argument.startsWith('--')) addValue(argument, found);
  }
}

/** The words of a command line, quotes taken off. */
function wordsOf(line: string): readonly string[] {
  const words = [''];
  let quote = '';
  for (const char of line) {
    if (char === quote) quote = '';
    else if (quote === '' && /["']/.test(char)) quote = char;
    else if (quote === '' && /\s/.test(char)) words.push('');
    else words.push((words.pop() ?? '') + char);
  }
  return words.filter((word) => word !== '');
}

/** `--api-key`, `--apiKey`, `-password`, `GITHUB_TOKEN`: a word of the name ends in one that names a secret. */
function isSecretName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').split(/[-_.]+/);
  return words.some((word) => /(?:tokens?|keys?|secrets?|passwords?|passwd|passphrase)$/i.test(word));
}

function addUrl(text: string, found: Set<string>): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return;
  const userInfo = [url.username, url.password];
  for (const part of userInfo) addEncoded(part, found);
  if (url.password !== '') found.add(base64(userInfo.map(decode).join(':')));
  for (const part of [url.search, url.hash]) {
    for (const pair of part.slice(1).split('&')) addEncoded(pair.slice(pair.indexOf('=') + 1), found);
    for (const value of new URLSearchParams(part.slice(1)).values()) found.add(value);
  }
}

function addEncoded(value: string, found: Set<string>): void {
  found.add(value);
  found.add(decode(value));
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}
