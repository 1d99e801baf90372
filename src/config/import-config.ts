/** What one file of any tool comes to, for a person to look at: every server in one form, and what is odd about it. */
import { existsSync } from 'node:fs';
import type { ApprovalMode, OAuthConfig, ServerConfig, ToolSettings } from '../domain/config.ts';
import { isPlace, secretsOf } from '../domain/secrets.ts';
import { isRecord } from '../domain/json.ts';
import { checkOptions, checkText } from './check-arguments.ts';
import { parseText } from './document.ts';
import type { ConfigFormatId } from './formats/format.ts';
import { defaultsOf, ownValue } from './placeholders.ts';
import { describeUnknown, unknownSettings } from './policy-schema.ts';
import { type ReadEntry, referencesOf } from './read-entry.ts';
import { type ConfigValues, givenOf } from './read-config.ts';
import { readSource, type SourceReading } from './read-source.ts';

/** One server as a file has it, references resolved where a value was given. */
export interface ImportedServer {
  readonly name: string;
  readonly transport: 'stdio' | 'http' | 'sse' | 'auto';
  readonly enabled: boolean;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `null` where the file says nothing. */
  readonly timeoutMs: number | null;
  readonly startupTimeoutMs: number | null;
  /** References without a value: the server does not start until they have one. */
  readonly unresolved: readonly string[];
  readonly tools?: ImportedTools;
  /** A command that prints headers; not run. */
  readonly headersHelper?: string;
  readonly oauth?: OAuthConfig;
  readonly trust?: boolean;
  /** The settings of CA-2 that have no field of their own here. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Fields that do nothing here, as they came. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a file says about the tools of a server. */
export interface ImportedTools {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Called without asking. */
  readonly autoApprove?: readonly string[];
  readonly approvalMode?: ApprovalMode;
  readonly perTool?: NonNullable<ToolSettings['perTool']>;
}

/** Something worth telling about a file or a server of it. */
export interface ImportDiagnostic {
  readonly code: string;
  readonly message: string;
  readonly server?: string;
}

/** What one file came to. */
export interface ImportedConfig {
  readonly file: string;
  readonly format: ConfigFormatId;
  /** What a person calls the format. */
  readonly product: string;
  readonly servers: readonly ImportedServer[];
  readonly diagnostics: readonly ImportDiagnostic[];
  /** The parts of the file that were left out: not about servers, or not known. */
  readonly leftOut: readonly string[];
  /** Values to be redacted before any of this is shown (SPEC SE-1). */
  readonly secrets: readonly string[];
}

/** How a text is read. */
export interface ImportOptions extends ConfigValues {
  /** Where the text comes from: recognised as a path of its tool, and named in messages. */
  readonly path: string;
}

/**
 * Reads the text of one file of any tool.
 *
 * @throws HoldfastError `config_syntax` with line and column; `config_invalid` when the document is no object, or too large;
 * `invalid_argument`.
 */
export function importConfig(text: string, options: ImportOptions): ImportedConfig {
  checkText(text, 'the text of importConfig');
  checkOptions(options, 'importConfig', 'path');
  return importSource(readSource(parseText(options.path, text), givenOf(options)));
}

/** What a document that was read comes to. */
export function importSource(source: SourceReading): ImportedConfig {
  const { document, format, root, entries, notes, leftOut } = source;
  const servers: ImportedServer[] = [];
  const secrets = new Set<string>();
  const diagnostics: ImportDiagnostic[] = notes.map(({ code, message, server }) => ({
    code,
    message,
    ...(server === undefined ? {} : { server }),
  }));
  const unknown = format.hasSections === true && root !== undefined ? unknownSettings(root) : [];
  if (unknown.length > 0)
    diagnostics.push({ code: 'unknown-field', message: describeUnknown(unknown, 'It is kept, and does nothing.') });
  for (const entry of entries) {
    diagnostics.push(...diagnose(entry));
    for (const secret of secretsIn(entry)) secrets.add(secret);
    if (entry.config !== undefined) servers.push(viewOf(entry, entry.config, secrets));
  }
  return {
    file: document.file,
    format: format.id,
    product: format.product,
    servers,
    diagnostics,
    leftOut,
    secrets: [...secrets],
  };
}

const codes: Readonly<Record<string, string>> = { command_and_url: 'ignored-field', coerced_env: 'coerced-env' };

function diagnose(entry: ReadEntry): ImportDiagnostic[] {
  const { name, reason, failure, notes, missing } = entry;
  if (entry.isNameless)
    return [{ code: 'missing-name', message: `element ${name.slice(1)}: expected a name, got none. It is left out.` }];
  const about = (code: string, message: string): ImportDiagnostic => ({ code, message, server: name });
  const said = notes.map((note) =>
    about((Object.hasOwn(codes, note.code) ? codes[note.code] : undefined) ?? note.code, note.message),
  );
  if (reason !== undefined && reason !== 'left-out' && failure !== undefined)
    said.unshift(about(reason, failure.message));
  if (missing.length > 0 && reason === undefined)
    said.unshift(
      about('unresolved', failure?.message ?? `no value for ${missing.map((each) => `"${each}"`).join(', ')}.`),
    );
  return said;
}

function viewOf(entry: ReadEntry, config: ServerConfig, secrets: Set<string>): ImportedServer {
  const { draft, headersHelper } = entry;
  const tools = toolsOf(entry, config);
  const missing = [...entry.missing];
  const settings = settingNames.flatMap((name): [string, unknown][] =>
    config[name] === undefined ? [] : [[name, config[name]]],
  );
  return {
    name: entry.name,
    transport: 'url' in config ? (config.transport ?? 'auto') : 'stdio',
    enabled: config.enabled !== false,
    ...('command' in config
      ? {
          command: config.command,
          args: config.args ?? [],
          env: config.env ?? {},
          ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
        }
      : {}),
    ...('url' in config ? { url: config.url, headers: headersOf(config, entry, missing, secrets) } : {}),
    timeoutMs: config.callTimeoutMs ?? null,
    startupTimeoutMs: config.startTimeoutMs ?? null,
    unresolved: missing,
    ...(tools === undefined ? {} : { tools }),
    ...(headersHelper === undefined ? {} : { headersHelper }),
    ...('url' in config && config.oauth !== undefined ? { oauth: config.oauth } : {}),
    ...(draft?.trust === undefined ? {} : { trust: draft.trust }),
    ...(settings.length === 0 ? {} : { settings: Object.fromEntries(settings) }),
    ...(Object.keys(entry.kept).length === 0 ? {} : { metadata: entry.kept }),
  };
}

const settingNames = [
  'required',
  'environment',
  'protocol',
  'parallel',
  'serialize',
  'maxPauseMs',
  'retry',
  'logLevel',
] as const;

function toolsOf({ draft }: ReadEntry, config: ServerConfig): ImportedTools | undefined {
  const { allow, deny } = config.tools ?? {};
  const written = draft?.fields.get('tools');
  const perTool = isRecord(written) && 'perTool' in written ? config.tools?.perTool : undefined;
  const byTrust = draft?.trust === true && draft.writtenAs.get('approval') === 'trust';
  const tools: ImportedTools = {
    ...(allow === undefined ? {} : { allow }),
    ...(deny === undefined ? {} : { deny }),
    ...(draft === undefined || draft.autoApprove.size === 0 ? {} : { autoApprove: [...draft.autoApprove] }),
    ...(config.approval === undefined || byTrust ? {} : { approvalMode: config.approval }),
    ...(perTool === undefined ? {} : { perTool }),
  };
  return Object.keys(tools).length === 0 ? undefined : tools;
}

/** The headers as they would go out: those whose values are in variables too. */
function headersOf(
  config: Extract<ServerConfig, { readonly url: string }>,
  { source }: ReadEntry,
  missing: string[],
  secrets: Set<string>,
): Readonly<Record<string, string>> {
  const { env } = source.given;
  const headers: Record<string, string> = { ...config.headers };
  const put = (header: string, variable: string, prefix: string): void => {
    const value = ownValue(env, variable);
    if (value === undefined) {
      if (!missing.includes(variable)) missing.push(variable);
      return;
    }
    // A name such as `__proto__` is a name like any other.
    Object.defineProperty(headers, header, {
      value: prefix + value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    if (value.length >= 8) secrets.add(value);
  };
  for (const [header, variable] of Object.entries(config.headersFrom ?? {})) put(header, variable, '');
  if (config.bearerTokenVariable !== undefined) put('Authorization', config.bearerTokenVariable, 'Bearer ');
  return headers;
}

const secretName = /(?:token|key|secret|password|passwd|passphrase|authorization|credential)s?$/i;

function secretsIn(entry: ReadEntry): readonly string[] {
  return [
    ...entry.secrets,
    // The default of one that has a value is not used, but its text is shown.
    ...referencesOf(entry)
      .flatMap(defaultsOf)
      .filter((value) => !isPlace(value, existsSync)),
    ...(entry.config === undefined ? [] : secretsOf(entry.config, (value) => isPlace(value, existsSync))),
    ...secretsWithin(entry.kept, false),
  ];
}

/** Texts under names that say they are secret, at any depth of what was kept. */
function secretsWithin(value: unknown, isNamed: boolean): readonly string[] {
  if (typeof value === 'string') return isNamed && value.length >= 8 ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((inner) => secretsWithin(inner, isNamed));
  return isRecord(value)
    ? Object.entries(value).flatMap(([key, inner]) => secretsWithin(inner, isNamed || secretName.test(key)))
    : [];
}
