/** Plugin manifests: `.claude-plugin/plugin.json` and the like, with servers inline, in a list, or in files beside them. */
import { isRecord } from '../../domain/json.ts';
import { editorSyntax } from '../placeholders.ts';
import { claudeFields } from './claude-code.ts';
import type { ConfigFormat, NamedDraft, Reading } from './format.ts';
import { readSections } from './sections.ts';

export const claudePluginFormat: ConfigFormat = {
  id: 'claude-plugin',
  product: 'plugin manifest',
  placeholders: editorSyntax,
  detectPath: (path) => /(?:^|\/)\.[a-z]+-plugin\/plugin\.json$/.test(path),
  detectContent: ({ root }) =>
    typeof root['name'] === 'string' &&
    Object.hasOwn(root, 'mcpServers') &&
    ['version', 'author', 'commands', 'skills', 'hooks', 'agents'].some((key) => Object.hasOwn(root, key)),
  read: (root) => {
    const section = root['mcpServers'];
    const parts: readonly unknown[] = Array.isArray(section) ? section : [section];
    if (!parts.some((part) => typeof part === 'string' || isMapOfServers(part))) return readMap(root);
    return readParts(root, parts);
  },
};

function readMap(root: Readonly<Record<string, unknown>>): Reading {
  return readSections(root, { wrapper: 'mcpServers', fields: claudeFields });
}

/** Paths of files beside the manifest, and maps, in any mixture. */
function readParts(root: Readonly<Record<string, unknown>>, parts: readonly unknown[]): Reading {
  const entries = new Map<string, NamedDraft>();
  const notes: Reading['notes'][number][] = [];
  for (const part of parts) {
    if (typeof part === 'string') {
      notes.push({
        code: 'referenced-file',
        message: `"mcpServers" names the file "${part}". Its servers are not taken here: read that file too.`,
      });
      continue;
    }
    const reading = readMap({ mcpServers: part });
    if (reading.tooMany !== undefined) return reading;
    for (const entry of reading.entries) entries.set(entry.name, entry);
    notes.push(...reading.notes);
  }
  return {
    entries: [...entries.values()],
    notes,
    leftOut: Object.keys(root).filter((key) => key !== '$schema' && key !== 'mcpServers'),
  };
}

function isMapOfServers(value: unknown): boolean {
  return isRecord(value) && !('command' in value) && !('url' in value) && Object.values(value).every(isRecord);
}
