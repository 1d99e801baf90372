/** Checks the servers a caller gives, where types cannot: one bad field is named, by its path, before anything starts. */
import { approvalModes, httpTransports, logLevels, oauthGrants, protocolModes } from './domain/config.ts';
import { HoldfastError } from './domain/errors.ts';
import type { Issue } from './domain/errors.ts';
import { isRecord, shown } from './domain/json.ts';

/** What a value should be, where it is something else. */
export type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'a non-empty string');
/** A boolean. */
export const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
/** A list of strings. */
export const texts: Check = (value) =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? undefined : 'a list of strings';
const textMap: Check = (value) =>
  isRecord(value) && Object.values(value).every((entry) => typeof entry === 'string')
    ? undefined
    : 'an object of strings';
/** A time that timers can be set to. */
export const milliseconds: Check = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value < 2 ** 31
    ? undefined
    : 'whole milliseconds from 1 to 2147483647';
const record: Check = (value) => (isRecord(value) ? undefined : 'an object');
/** One of some values. */
export const oneOf = (values: readonly unknown[]): Check => {
  const wanted = values.map((value) => JSON.stringify(value)).join(', ');
  return (value) => (values.includes(value) ? undefined : `one of ${wanted}`);
};

const oauthChecks: Readonly<Record<string, Check>> = {
  grant: oneOf(oauthGrants),
  scopes: texts,
  callbackPort: (value) => (Number.isInteger(value) ? undefined : 'a port'),
  dpop: flag,
};

/** Every other field of `oauth` is text. */
const oauth: Check = (value) => {
  if (!isRecord(value)) return 'an object';
  for (const [field, inner] of Object.entries(value)) {
    const wanted = inner === undefined ? undefined : (oauthChecks[field] ?? text)(inner);
    if (wanted !== undefined) return `an object whose "${field}" is ${wanted}`;
  }
  return undefined;
};

const checks: Readonly<Record<string, Check>> = {
  command: text,
  args: texts,
  env: textMap,
  envFrom: textMap,
  cwd: text,
  url: text,
  headers: textMap,
  headersFrom: textMap,
  bearerTokenVariable: text,
  renewHeaders: (value) => (typeof value === 'function' ? undefined : 'a function that gives headers'),
  caFile: text,
  oauth,
  inMemory: (value) => (typeof value === 'function' ? undefined : 'a function that makes a server'),
  enabled: flag,
  required: flag,
  environment: text,
  protocol: oneOf(protocolModes),
  parallel: flag,
  serialize: flag,
  startTimeoutMs: milliseconds,
  callTimeoutMs: milliseconds,
  maxPauseMs: milliseconds,
  retry: oneOf(['never', 'idempotent']),
  approval: oneOf(approvalModes),
  logLevel: oneOf(logLevels),
  notSecret: texts,
  tools: record,
};

const httpTransport = oneOf(httpTransports);

/**
 * Checks a map of server name to configuration.
 *
 * @throws HoldfastError `config_invalid` with every issue: all of the map is good, or none of it is used.
 */
export function checkServers(servers: unknown): void {
  if (!isRecord(servers))
    throw invalid([{ path: '', message: `Expected an object of servers, got ${shown(servers)}.` }]);
  const issues = Object.entries(servers).flatMap(([name, config]) => issuesOf(name, config));
  if (issues.length > 0) throw invalid(issues);
}

/**
 * Checks what goes with servers: those that cannot be started, and values to redact.
 *
 * @throws HoldfastError `config_invalid`.
 */
export function checkBesideServers({
  misconfigured,
  secrets,
}: {
  readonly misconfigured?: unknown;
  readonly secrets?: unknown;
}): void {
  if (misconfigured !== undefined && !(isRecord(misconfigured) && Object.values(misconfigured).every(isFailure)))
    throw invalid([
      {
        path: '/misconfigured',
        message: `Expected an object of failures, each { code, message, retryable }, got ${shown(misconfigured)}.`,
      },
    ]);
  if (secrets !== undefined && texts(secrets) !== undefined)
    throw invalid([{ path: '/secrets', message: 'Expected a list of strings.' }]);
}

function issuesOf(name: string, config: unknown): readonly Issue[] {
  const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (!isRecord(config)) return [{ path, message: `Expected an object, got ${shown(config)}.` }];
  const kinds = ['command', 'url', 'inMemory'].filter((kind) => config[kind] !== undefined);
  if (isRecord(config['transport'])) kinds.push('transport');
  const issues: Issue[] = [];
  if (kinds.length !== 1) {
    const got = kinds.length === 0 ? 'none of them' : kinds.map((kind) => `"${kind}"`).join(' and ');
    issues.push({
      path,
      message: `Expected exactly one of "command", "url", "inMemory" or a "transport", got ${got}.`,
    });
  }
  for (const [field, value] of Object.entries(config)) {
    const check = field === 'transport' ? transportCheck(config) : checks[field];
    const wanted = value === undefined ? undefined : check?.(value);
    if (wanted !== undefined)
      issues.push({ path: `${path}/${field}`, message: `Expected ${wanted}, got ${shown(value)}.` });
  }
  return issues;
}

function transportCheck(config: Readonly<Record<string, unknown>>): Check | undefined {
  return config['url'] === undefined ? record : httpTransport;
}

function invalid(issues: readonly Issue[]): HoldfastError {
  const said = issues.slice(0, 5).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const more = issues.length > said.length ? ` And ${String(issues.length - said.length)} more.` : '';
  return new HoldfastError('config_invalid', `The servers cannot be used. ${said.join(' ')}${more}`, { issues });
}

function isFailure(value: unknown): boolean {
  return isRecord(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string';
}
