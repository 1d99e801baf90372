/** A catalog as a thread takes it, and whether two of those are the same (SPEC CA-7: an unchanged one replaces nothing). */
import type { RuntimeServers } from '../api.ts';
import type {
  Catalog,
  CatalogServer,
  DisabledReason,
  PluginAttribution,
  ServerProvenance,
  ServerSource,
} from '../domain/catalog.ts';
import type { MisconfiguredServer, ServerConfig } from '../domain/config.ts';
import type { Failure } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';

/** The servers of a catalog: those that can start, those that cannot, those that are off and why, and where each is from. */
export function toRuntimeServers(catalog: Catalog): RuntimeServers {
  const servers: [string, ServerConfig][] = [];
  const misconfigured: [string, MisconfiguredServer][] = [];
  const disabled: [string, Failure][] = [];
  const provenance: [string, ServerProvenance][] = [];
  for (const [name, server] of Object.entries(catalog.servers)) {
    provenance.push([name, provenanceOf(server)]);
    const { disabled: why } = server;
    const reason = why === undefined ? undefined : disabledFailure(name, why);
    if (reason !== undefined) disabled.push([name, reason]);
    if ('config' in server) servers.push([name, server.config]);
    else if (reason === undefined) misconfigured.push([name, server.failure]);
  }
  return {
    servers: Object.fromEntries(servers),
    misconfigured: Object.fromEntries(misconfigured),
    disabled: Object.fromEntries(disabled),
    provenance: Object.fromEntries(provenance),
    secrets: catalog.secrets,
  };
}

/** The plugins that won a name, by server name. */
export function pluginAttributions(catalog: Catalog): Readonly<Record<string, PluginAttribution>> {
  return Object.fromEntries(
    Object.entries(catalog.servers).flatMap(([name, { source }]) => {
      const plugin = pluginOf(source);
      return plugin === undefined ? [] : [[name, plugin]];
    }),
  );
}

/**
 * Tells whether two projections, or any two plain values, say the same.
 *
 * Functions and objects that are no plain records (transports, factories) are the same only if they are one.
 */
export function isSameProjection(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameProjection(item, b[index]));
  if (!isPlain(a) || !isPlain(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameProjection(a[key], b[key]))
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function provenanceOf({ source, connector }: CatalogServer): ServerProvenance {
  const plugin = pluginOf(source);
  return {
    source: source.kind,
    ...(plugin === undefined ? {} : { plugin }),
    ...(connector === undefined ? {} : { connector }),
  };
}

function pluginOf(source: ServerSource): PluginAttribution | undefined {
  return source.kind === 'plugin' || source.kind === 'selectedPlugin' ? source.plugin : undefined;
}

/** Its own `enabled: false` needs no further word. */
function disabledFailure(name: string, disabled: DisabledReason): Failure | undefined {
  switch (disabled.kind) {
    case 'configuration':
      return undefined;
    case 'veto':
      return failure(
        `Server "${name}" is disabled${disabled.reason === undefined ? '' : `: ${disabled.reason}`}. Take the veto back to use it.`,
      );
    case 'requirements':
      return failure(
        `Server "${name}" is disabled: expected a command or url that the requirements of "${disabled.source}" allow, got another. Change the server, or have it allowed there.`,
      );
  }
}

function failure(message: string): Failure {
  return { code: 'server_misconfigured', message, retryable: false };
}
