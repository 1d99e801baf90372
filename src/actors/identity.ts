/** What makes two configurations of a server the same connection (SPEC RT-5). */
import { createHash } from 'node:crypto';
import type { ServerConfig } from '../domain/config.ts';
import type { Place } from '../domain/environment.ts';
import { isRecord } from '../domain/json.ts';
import type { TransportKind } from '../domain/snapshot.ts';
import { processOrigin } from './process-origin.ts';

/** Fields that only change what is seen of a server, never the connection to it. */
const viewOnly: ReadonlySet<string> = new Set([
  'enabled',
  'required',
  'parallel',
  'serialize',
  'startTimeoutMs',
  'callTimeoutMs',
  'maxPauseMs',
  'retry',
  'approval',
  'tools',
  'notSecret',
]);

const defaultsOfIdentity: Readonly<Record<string, unknown>> = { environment: 'local', protocol: 'auto' };

/** Names each in-process factory and given transport: they are compared by reference. */
const references = new WeakMap<object, number>();
let referenceCount = 0;

/**
 * A digest of everything that makes a connection: equal digests, one connection. Holds no secret.
 *
 * `place` is where a server of another environment starts: the environment's id is in its configuration, the handle here.
 */
export function identityOf(server: string, config: ServerConfig, place?: Place): string {
  const relevant: Record<string, unknown> = { ...defaultsOfIdentity };
  if (place !== undefined) relevant['place'] = 'handle' in place ? place.handle : null;
  for (const [key, value] of Object.entries<unknown>({ ...config })) {
    if (value === undefined || viewOnly.has(key)) continue;
    relevant[key] = isReference(key) && isObject(value) ? referenceOf(value) : value;
  }
  for (const name of variablesOf(config)) relevant[`variable ${name}`] = process.env[name] ?? null;
  return createHash('sha256')
    .update(canonical([server, relevant]))
    .digest('hex');
}

/** How a server is reached. */
export function transportOf(config: ServerConfig): TransportKind {
  if ('inMemory' in config) return 'in-memory';
  if ('command' in config) return 'stdio';
  if ('url' in config) return config.transport === 'sse' ? 'sse' : 'http';
  return 'given';
}

/** What runs, `in-memory`, `given`, or the origin of the url: where another one is another server. */
export function originOf(config: ServerConfig, redact: (text: string) => string): string {
  if ('command' in config) return processOrigin(config, redact);
  if (!('url' in config)) return transportOf(config);
  return URL.canParse(config.url) ? new URL(config.url).origin : 'http';
}

/** Names of the environment variables a configuration takes values from. */
export function variablesOf(config: ServerConfig): readonly string[] {
  if ('command' in config) return isLocal(config) ? Object.values(config.envFrom ?? {}) : [];
  if (!('url' in config)) return [];
  const { headersFrom = {}, bearerTokenVariable, oauth = {} } = config;
  const { clientSecretVariable, privateKeyVariable, identityClientSecretVariable } = oauth;
  // The tokens of a workload and of a person change while the client stays the same.
  const named = [bearerTokenVariable, clientSecretVariable, privateKeyVariable, identityClientSecretVariable];
  return [...Object.values(headersFrom), ...named.filter((name) => name !== undefined)];
}

function isLocal({ environment }: ServerConfig): boolean {
  return environment === undefined || environment === 'local';
}

function isReference(key: string): boolean {
  return key === 'inMemory' || key === 'transport';
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function referenceOf(value: object): string {
  let id = references.get(value);
  if (id === undefined) {
    referenceCount += 1;
    id = referenceCount;
    references.set(value, id);
  }
  return `reference ${String(id)}`;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).toSorted(byKey)) : inner,
  );
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
