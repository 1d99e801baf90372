/** One server entry, as files and requests write it: every field of `ServerConfig` but the ones only code can give. */
import { z } from 'zod';
import {
  approvalModes,
  httpTransports,
  logLevels,
  oauthGrants,
  protocolModes,
  type ServerConfig,
} from '../domain/config.ts';
import type { Issue } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import { issueInWords } from './issue-words.ts';
import { escapePointer } from './position.ts';

const maxTimeoutMs = 2 ** 31 - 1;
const milliseconds = z.int().min(1).max(maxTimeoutMs).exactOptional();
const strings = z.array(z.string()).exactOptional();
const flag = z.boolean().exactOptional();
const text = z.string().exactOptional();
const name = z
  .string()
  .min(1, 'expected text, got none between the quotes (write it, or leave the field out)')
  .exactOptional();
const textMap = z.record(z.string(), z.string()).exactOptional();
const envValue = z
  .union([z.string(), z.number(), z.boolean()], {
    error: 'expected text, got a value of another kind (put it in quotes)',
  })
  .transform(String);
const approval = z.enum(approvalModes).exactOptional();

/** The names other tools give a transport. */
const fileTypes = [
  'stdio',
  'local',
  'http',
  'streamable-http',
  'streamableHttp',
  'streamable_http',
  'sse',
  'remote',
] as const;

const perToolSchema = z.object({ approval });
const toolsSchema = z.object({
  allow: strings,
  deny: strings,
  perTool: z.record(z.string(), perToolSchema).exactOptional(),
});

const oauthSchema = z.object({
  grant: z.enum(oauthGrants).exactOptional(),
  clientId: text,
  clientSecretVariable: name,
  privateKeyVariable: name,
  signingAlgorithm: name,
  clientMetadataUrl: text,
  issuer: text,
  scopes: strings,
  resource: text,
  callbackPort: z.int().min(0).max(65_535).exactOptional(),
  redirectUrl: text,
  dpop: flag,
  assertionVariable: name,
  idTokenVariable: name,
  identityProvider: text,
  identityClientId: text,
  identityClientSecretVariable: name,
});

const stdioSchema = z.object({
  command: z.string(),
  args: strings,
  env: z.record(z.string(), envValue).exactOptional(),
  envFrom: textMap,
  cwd: name,
});

const httpSchema = z.object({
  url: z.string(),
  headers: textMap,
  headersFrom: textMap,
  bearerTokenVariable: name,
  caFile: name,
  transport: z.enum(httpTransports).exactOptional(),
  oauth: oauthSchema.exactOptional(),
});

const settingsSchema = z.object({
  enabled: flag,
  required: flag,
  environment: name,
  protocol: z.enum(protocolModes).exactOptional(),
  parallel: flag,
  serialize: flag,
  startTimeoutMs: milliseconds,
  callTimeoutMs: milliseconds,
  maxPauseMs: milliseconds,
  retry: z.enum(['never', 'idempotent']).exactOptional(),
  approval,
  logLevel: z.enum(logLevels).exactOptional(),
  tools: toolsSchema.exactOptional(),
});

const entrySchema = z.object({
  ...stdioSchema.shape,
  ...httpSchema.shape,
  ...settingsSchema.shape,
  type: z.enum(fileTypes).exactOptional(),
  disabled: flag,
  command: name,
  url: text,
});

type Entry = z.infer<typeof entrySchema>;

/** The names of every field an entry may have. */
export const entryFields: readonly string[] = Object.keys(entrySchema.shape);

/** Why an entry is no server, as a code. */
export type InvalidReason =
  'not-an-object' | 'empty-command' | 'no-transport' | 'ambiguous-transport' | 'invalid-entry';

/** What {@link parseServer} made of an entry. */
export type ParsedServer =
  | {
      readonly kind: 'server';
      readonly config: ServerConfig;
      /** Fields nobody here knows, kept as they came. */
      readonly unknown: Readonly<Record<string, unknown>>;
      /** Things worth telling: code and text. */
      readonly notes: readonly Note[];
    }
  | { readonly kind: 'invalid'; readonly reason: InvalidReason; readonly issues: readonly Issue[] };

/**
 * Checks one entry and brings it into the one form Holdfast uses. Never throws.
 *
 * With `hasGaps` the url may be text that is none: a value it needs is missing.
 */
export function parseServer(value: unknown, options: { readonly hasGaps?: boolean } = {}): ParsedServer {
  const parsed = entrySchema.safeParse(value, { error: issueInWords });
  if (!parsed.success) return { kind: 'invalid', reason: reasonOf(value), issues: toIssues(parsed.error) };
  const entry = parsed.data;
  const notes = [...envNotes(value)];
  const reach = reachOf(entry, notes, options.hasGaps === true);
  if ('reason' in reach) return { kind: 'invalid', reason: reach.reason, issues: [reach.issue] };
  const enabled = entry.enabled ?? (entry.disabled === undefined ? undefined : !entry.disabled);
  const config: ServerConfig = {
    ...(reach.kind === 'stdio' ? stdioSchema.parse({ ...entry, command: reach.command }) : httpOf(reach.url, entry)),
    ...settingsSchema.parse(entry),
    ...(enabled === undefined ? {} : { enabled }),
  };
  return { kind: 'server', config, unknown: unknownOf(value), notes };
}

/** Zod's issues as Holdfast's: JSON Pointer and sentence. */
export function toIssues(error: z.ZodError, prefix = ''): Issue[] {
  return error.issues.map((issue) => ({
    path: prefix + issue.path.map((segment) => `/${escapePointer(String(segment))}`).join(''),
    message: issue.message,
  }));
}

type Note = { readonly code: string; readonly message: string };
type Reach = { readonly kind: 'stdio'; readonly command: string } | { readonly kind: 'http'; readonly url: string };

interface Refusal {
  readonly reason: InvalidReason;
  readonly issue: Issue;
}

function reasonOf(value: unknown): InvalidReason {
  if (!isRecord(value)) return 'not-an-object';
  return value['command'] === '' ? 'empty-command' : 'invalid-entry';
}

function reachOf(entry: Entry, notes: Note[], hasGaps: boolean): Reach | Refusal {
  const { command, url, type } = entry;
  const wants = type === undefined ? undefined : type === 'stdio' || type === 'local' ? 'command' : 'url';
  if (command !== undefined && url !== undefined) {
    if (wants === undefined)
      return refuse(
        'ambiguous-transport',
        'expected "command" or "url", got both. Remove one of them, or say which with "type"',
      );
    notes.push({
      code: 'command_and_url',
      message: `"command" and "url" are both set; "type" says to use "${wants}".`,
    });
  }
  const key = wants ?? (command === undefined ? 'url' : 'command');
  if (command !== undefined && key === 'command') return { kind: 'stdio', command };
  if (url !== undefined && key === 'url') {
    const problem = hasGaps ? undefined : urlProblem(url);
    return problem === undefined ? { kind: 'http', url } : refuse('invalid-entry', problem, '/url');
  }
  return refuse(
    'no-transport',
    wants === undefined
      ? 'expected "command" or "url", got neither. Add one of them'
      : `expected "${wants}", because "type" is "${type ?? ''}", got none. Add it, or mend "type"`,
  );
}

function refuse(reason: InvalidReason, message: string, path = ''): Refusal {
  return { reason, issue: { path, message } };
}

function urlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return 'expected a url such as "https://host/mcp", got text that is none';
  const { protocol } = new URL(url);
  return protocol === 'http:' || protocol === 'https:'
    ? undefined
    : `expected a url with http or https, got "${protocol}"`;
}

function httpOf(url: string, entry: Entry): ServerConfig {
  const transport = entry.transport ?? transportOf(entry.type);
  return { ...httpSchema.parse({ ...entry, url }), ...(transport === undefined ? {} : { transport }) };
}

function transportOf(type: Entry['type']): 'http' | 'sse' | undefined {
  if (type === 'sse') return 'sse';
  return type !== undefined && type !== 'remote' && type !== 'local' && type !== 'stdio' ? 'http' : undefined;
}

function envNotes(value: unknown): Note[] {
  const env = isRecord(value) ? value['env'] : undefined;
  if (!isRecord(env)) return [];
  const names = Object.keys(env).filter((key) => typeof env[key] !== 'string');
  return names.length === 0
    ? []
    : [
        {
          code: 'coerced_env',
          message: `Expected text in "env", got a number or a boolean for ${quoted(names)}. It was taken as text.`,
        },
      ];
}

function quoted(names: readonly string[]): string {
  return names.map((key) => `"${key}"`).join(', ');
}

function unknownOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) return {};
  const { tools, oauth } = value;
  return Object.fromEntries([
    ...beyond(value, entrySchema.shape, ''),
    ...beyond(tools, toolsSchema.shape, 'tools.'),
    ...Object.entries(isRecord(tools) && isRecord(tools['perTool']) ? tools['perTool'] : {}).flatMap(([tool, inner]) =>
      beyond(inner, perToolSchema.shape, `tools.perTool.${tool}.`),
    ),
    ...beyond(oauth, oauthSchema.shape, 'oauth.'),
  ]);
}

/** The fields of a value that a schema does not name. */
export function beyond(value: unknown, shape: object, prefix: string): (readonly [string, unknown])[] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    Object.hasOwn(shape, key) ? [] : [[prefix + key, inner] as const],
  );
}
