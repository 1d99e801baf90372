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
    ...removedOf(catalog),
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
 * Tells whether two projections say the same, whatever the order of their servers.
 *
 * Transports and factories that code gave are the same only if they are one.
 */
export function isSameProjection(a: RuntimeServers, b: RuntimeServers): boolean {
  const { servers, ...rest } = a;
  const { servers: others, ...otherRest } = b;
  return isSameRecord(servers, others, isSameConfig) && isSameData(rest, otherRest);
}

function isSameConfig(a: ServerConfig, b: ServerConfig): boolean {
  return isSameRecord<unknown>({ ...a }, { ...b }, (one, other, key) =>
    key === 'transport' || key === 'inMemory' ? one === other : isSameData(one, other),
  );
}

function isSameRecord<TValue>(
  a: Readonly<Record<string, TValue>>,
  b: Readonly<Record<string, TValue>>,
  isSame: (one: TValue, other: TValue, key: string) => boolean,
): boolean {
  const others = new Map(Object.entries(b));
  const entries = Object.entries(a);
  return (
    entries.length === others.size &&
    entries.every(([key, one]) => {
      const other = others.get(key);
      return other === undefined ? one === undefined && others.has(key) : isSame(one, other, key);
    })
  );
}

function isSameData(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameData(item, b[index]));
  return isRecord(a) && isRecord(b) && isSameRecord(a, b, isSameData);
}

function provenanceOf({ source, connector }: CatalogServer): ServerProvenance {
  const plugin = pluginOf(source);
  return {
    source: source.kind,
    ...('file' in source ? { file: source.file } : {}),
    ...('id' in source ? { id: source.id } : {}),
    ...(plugin === undefined ? {} : { plugin }),
    ...(connector === undefined ? {} : { connector }),
  };
}

function pluginOf(source: ServerSource): PluginAttribution | undefined {
  return source.kind === 'plugin' || source.kind === 'selectedPlugin' ? source.plugin : undefined;
}

function removedOf({ removed }: Catalog): Pick<RuntimeServers, 'removed'> {
  if (removed === undefined) return {};
  const reasons = Object.entries(removed).map(([name, source]): [string, Failure] => [
    name,
    failure(`Server "${name}" was removed by ${sourceInWords(source)}.`),
  ]);
  return { removed: Object.fromEntries(reasons) };
}

function sourceInWords(source: ServerSource): string {
  switch (source.kind) {
    case 'plugin':
    case 'selectedPlugin':
      return `plugin "${source.plugin.id}"`;
    case 'config':
      return source.file === undefined ? 'the configuration' : `the configuration "${source.file}"`;
    case 'compatibility':
      return `compatibility source "${source.id}"`;
    case 'extension':
      return `extension "${source.id}"`;
  }
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
