/** What fields of entries mean: tables of field name to reader, put together by each format. */
import { isRecord } from '../../domain/json.ts';
import { entryFields } from '../server-schema.ts';
import { Draft } from './draft.ts';

/** Takes one field of an entry into the draft. */
export type FieldReader = (draft: Draft, value: unknown, name: string) => void;

/** Field name → reader. A name that is not there is unknown: kept and reported. */
export type FieldTable = Readonly<Record<string, FieldReader>>;

/** Reads an entry by a table. What is no object becomes a draft that says so when it is checked. */
export function readFields(entry: unknown, table: FieldTable): Draft {
  const draft = new Draft();
  if (!isRecord(entry)) return draft;
  for (const [name, value] of Object.entries(entry)) {
    const read = Object.hasOwn(table, name) ? table[name] : undefined;
    if (read === undefined) draft.keepUnknown(name, value);
    else read(draft, value, name);
  }
  return draft;
}

/** The value as it is, under another name or its own. */
export function as(field: string): FieldReader {
  return (draft, value, name) => draft.set(field, value, name);
}

/** A field that does nothing here, and that everybody knows. */
export const inert: FieldReader = (draft, value, name) => draft.keep(name, value);

/** A time in a unit of so many milliseconds. Zero and less mean the tool's own default. */
export function time(field: 'callTimeoutMs' | 'startTimeoutMs', unitMs: number): FieldReader {
  return (draft, value, name) => {
    if (typeof value !== 'number') draft.set(field, value, name);
    else if (value <= 0) draft.ignore(name, value, 'it is not above zero, so the default is used');
    else draft.set(field, Math.max(1, Math.round(value * unitMs)), name);
  };
}

/** A list of tools, for `tools.allow` or `tools.deny`. `*` stands for all. */
export function tools(inner: 'allow' | 'deny'): FieldReader {
  return (draft, value, name) => {
    if (inner === 'allow' && Array.isArray(value) && value.includes('*')) draft.keep(name, value);
    else draft.setWithin('tools', inner, value, name);
  };
}

/** `tools` as Holdfast has it, or as a list of the allowed ones. */
export const toolSettings: FieldReader = (draft, value, name) => {
  if (Array.isArray(value)) tools('allow')(draft, value, name);
  else if (!isRecord(value)) draft.set('tools', value, name);
  else {
    if (!draft.fields.has('tools')) draft.set('tools', {}, name);
    for (const [inner, setting] of Object.entries(value)) draft.setWithin('tools', inner, setting, `${name}.${inner}`);
  }
};

/** Tools that are called without asking: a list, or `true` or `*` for all. */
export const autoApprove: FieldReader = (draft, value, name) => {
  if (value === true || (Array.isArray(value) && value.includes('*'))) draft.set('approval', 'approve', name);
  else if (Array.isArray(value) && value.every((tool) => typeof tool === 'string'))
    for (const tool of value) draft.autoApprove.add(tool);
  else if (value === false || value === null) draft.keep(name, value);
  else draft.ignore(name, value, 'it is no list of tools');
};

/** Whether all calls of a server are made without asking. */
export const trust: FieldReader = (draft, value, name) => {
  if (typeof value !== 'boolean') {
    draft.ignore(name, value, 'it is neither true nor false');
    return;
  }
  draft.trust = value;
  if (value) draft.set('approval', 'approve', name);
};

/** A command that prints headers. It is never run without consent. */
export const headersHelper: FieldReader = (draft, value, name) => {
  if (typeof value === 'string') draft.headersHelper = value;
  else draft.ignore(name, value, 'it is no text');
};

/** Arguments; YAML and careless hands leave numbers unquoted. */
export const args: FieldReader = (draft, value, name) => {
  if (!Array.isArray(value)) {
    draft.set('args', value, name);
    return;
  }
  draft.set('args', value.map(textOf), name);
};

/** `command` as a list of program and arguments, or as one text. */
export const commandList: FieldReader = (draft, value, name) => {
  if (!Array.isArray(value)) {
    draft.set('command', value, name);
    return;
  }
  const [command = '', ...rest] = value.map(textOf);
  draft.set('command', command, name);
  if (rest.length > 0) draft.set('args', rest, name);
};

/** A file of `NAME=value` lines. */
export const envFile: FieldReader = (draft, value, name) => {
  if (typeof value === 'string') draft.envFiles.push(value);
  else draft.ignore(name, value, 'it is no text');
};

/** OAuth settings under the names other tools have for them; `false` means none. */
export const oauth: FieldReader = (draft, value, name) => {
  if (!isRecord(value)) {
    draft.keep(name, value);
    return;
  }
  draft.set('oauth', {}, name);
  for (const [key, inner] of Object.entries(value)) {
    const known = Object.hasOwn(oauthNames, key) ? oauthNames[key] : undefined;
    if (known === undefined) draft.keepUnknown(`${name}.${key}`, inner);
    else if (known === 'scopes' && typeof inner === 'string')
      draft.setWithin('oauth', known, inner.split(/[\s,]+/).filter(Boolean), `${name}.${key}`);
    else draft.setWithin('oauth', known, inner, `${name}.${key}`);
  }
};

const oauthNames: Readonly<Record<string, string>> = {
  clientId: 'clientId',
  client_id: 'clientId',
  scope: 'scopes',
  scopes: 'scopes',
  resource: 'resource',
  callbackPort: 'callbackPort',
  callback_port: 'callbackPort',
};

function textOf(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

/** The fields of CA-2, each under its own name, and those that say who a server is. */
export const ownFields: FieldTable = {
  ...Object.fromEntries(entryFields.map((field) => [field, as(field)])),
  args,
  tools: toolSettings,
  $comment: inert,
  description: inert,
  name: inert,
  title: inert,
  version: inert,
  gallery: inert,
  icon: inert,
};

/** The fields tools with an `mcpServers` root have in common, those of CA-2 included. */
export const commonFields: FieldTable = {
  ...ownFields,
  serverUrl: as('url'),
  httpUrl: (draft, value, name) => {
    draft.set('url', value, name);
    if (!draft.fields.has('type')) draft.set('transport', 'http', name);
  },
  oauth,
  timeout_ms: time('callTimeoutMs', 1),
  disabledTools: tools('deny'),
  disabled_tools: tools('deny'),
  excludeTools: tools('deny'),
  enabledTools: tools('allow'),
  enabled_tools: tools('allow'),
  includeTools: tools('allow'),
  alwaysAllow: autoApprove,
  autoApprove,
  headersHelper,
};
