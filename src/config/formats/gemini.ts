/** Gemini CLI: `.gemini/settings.json`. */
import { isRecord } from '../../domain/json.ts';
import { dollarSyntax } from '../placeholders.ts';
import { commonFields, type FieldTable, time, trust } from './fields.ts';
import type { ConfigFormat, Reading } from './format.ts';
import { readSections } from './sections.ts';

const fields: FieldTable = { ...commonFields, timeout: time('callTimeoutMs', 1), trust };

export const geminiFormat: ConfigFormat = {
  id: 'gemini',
  product: 'Gemini CLI',
  placeholders: dollarSyntax,
  hint: /gemini/,
  detectPath: (path) => /(?:^|\/)\.gemini\/settings\.json$|(?:^|\/)gemini-extension\.json$/.test(path),
  detectContent: ({ root }) =>
    isRecord(root['mcpServers']) &&
    Object.values(root['mcpServers']).some((entry) => isRecord(entry) && typeof entry['httpUrl'] === 'string'),
  read: (root) => {
    const reading = readSections(root, { wrapper: 'mcpServers', known: ['mcp'], fields });
    const { mcp } = root;
    return isRecord(mcp) ? withLists(reading, names(mcp['allowed']), names(mcp['excluded'])) : reading;
  },
};

/** `mcp.allowed` and `mcp.excluded` switch servers off by name. */
function withLists(
  reading: Reading,
  allowed: readonly string[] | undefined,
  excluded: readonly string[] | undefined,
): Reading {
  for (const { name, draft } of reading.entries) {
    const isOff = (allowed !== undefined && !allowed.includes(name)) || excluded?.includes(name) === true;
    if (isOff && draft !== undefined) {
      draft.fields.set('enabled', false);
      draft.notes.push({ code: 'switched-off', message: '"mcp" in this file switches it off.' });
    }
  }
  return reading;
}

function names(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined;
}
