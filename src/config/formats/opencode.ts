/** OpenCode: `mcp` (version 1) and `mcp.servers` (version 2) in `opencode.json`. */
import { isRecord } from '../../domain/json.ts';
import { opencodeSyntax } from '../placeholders.ts';
import { as, commandList, type FieldTable, inert, oauth, time } from './fields.ts';
import { type ConfigFormat, countTooMany, type Reading } from './format.ts';
import { namedEntries, noSection, toDraft } from './sections.ts';

const requestTime = time('callTimeoutMs', 1);

const fields: FieldTable = {
  type: as('type'),
  command: commandList,
  environment: as('env'),
  env: as('env'),
  cwd: as('cwd'),
  url: as('url'),
  headers: as('headers'),
  enabled: as('enabled'),
  disabled: as('disabled'),
  oauth,
  description: inert,
  timeout: (draft, value, name) => {
    if (!isRecord(value)) {
      requestTime(draft, value, name);
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'startup') time('startTimeoutMs', 1)(draft, inner, `${name}.${key}`);
      else if (key === 'request') requestTime(draft, inner, `${name}.${key}`);
      else draft.keepUnknown(`${name}.${key}`, inner);
    }
  },
};

export const opencodeFormat: ConfigFormat = {
  id: 'opencode',
  product: 'OpenCode',
  placeholders: opencodeSyntax,
  hint: /opencode/,
  detectPath: (path) => /(?:^|\/)opencode\.jsonc?$/.test(path),
  detectContent: ({ root }) =>
    (typeof root['$schema'] === 'string' && root['$schema'].includes('opencode.ai')) ||
    Object.values(mapOf(root['mcp'])).some(isOwn),
  read: (root) => {
    const leftOut = Object.keys(root).filter((key) => key !== '$schema' && key !== 'mcp');
    const { mcp } = root;
    if (!isRecord(mcp)) return { entries: [], notes: [noSection('mcp', root)], leftOut };
    const isSecond = isRecord(mcp['servers']) && !isOwn(mcp['servers']);
    const excess = countTooMany(isSecond ? mcp['servers'] : mcp);
    if (excess.tooMany !== undefined) return { entries: [], notes: [], leftOut, ...excess };
    const notes: Reading['notes'][number][] = [];
    const entries = isSecond ? namedEntries('mcp.servers', mcp['servers'], notes) : namedEntries('mcp', mcp, notes);
    const drafts = entries.filter(([, entry]) => !isSwitch(entry)).map((entry) => toDraft(entry, fields));
    if (isSecond) for (const { draft } of drafts) if (draft !== undefined) addDefaults(draft, mcp['timeout']);
    for (const [name, entry] of entries)
      if (isSwitch(entry))
        notes.push({
          code: 'override-only',
          server: name,
          isInfo: true,
          message: `"${name}" only switches a server of another file. It adds none.`,
        });
    return { entries: drafts, notes, leftOut };
  },
};

/** Times for all servers, where one has none of its own. */
function addDefaults(draft: NonNullable<ReturnType<typeof toDraft>['draft']>, timeout: unknown): void {
  const times = isRecord(timeout) ? timeout : { request: timeout };
  const { startup, request } = times;
  if (typeof startup === 'number' && startup > 0 && !draft.fields.has('startTimeoutMs'))
    draft.set('startTimeoutMs', startup, 'mcp.timeout.startup');
  if (typeof request === 'number' && request > 0 && !draft.fields.has('callTimeoutMs'))
    draft.set('callTimeoutMs', request, 'mcp.timeout');
}

function mapOf(mcp: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(mcp)) return {};
  return isRecord(mcp['servers']) && !isOwn(mcp['servers']) ? mcp['servers'] : mcp;
}

/** `type` is required here, and its words are nobody else's. */
function isOwn(entry: unknown): boolean {
  return isRecord(entry) && (entry['type'] === 'local' || entry['type'] === 'remote');
}

/** An entry that only says `enabled`: it switches a server another file has. */
function isSwitch(entry: unknown): boolean {
  return isRecord(entry) && Object.keys(entry).every((key) => key === 'enabled') && Object.keys(entry).length > 0;
}
