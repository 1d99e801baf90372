/** One document: recognised, its entries read, and everything worth telling about it. */
import { dirname, isAbsolute, resolve } from 'node:path';
import { HoldfastError } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import type { ConfigDocument } from './document.ts';
import { detectFormat } from './formats/detect.ts';
import { type ConfigFormat, maxServers, type Reading } from './formats/format.ts';
import { isBareMap } from './formats/sections.ts';
import type { Given } from './placeholders.ts';
import { escapePointer } from './position.ts';
import { type ReadEntry, readEntry } from './read-entry.ts';

const maxDuplicates = 100;
const wrappers = new Set(['mcpServers', 'servers', 'mcp', 'mcp_servers', 'context_servers', 'extensions']);

/** What a document came to. */
export interface SourceReading {
  readonly document: ConfigDocument;
  readonly format: ConfigFormat;
  /** `undefined` for a document without a value. */
  readonly root: Readonly<Record<string, unknown>> | undefined;
  readonly entries: readonly ReadEntry[];
  readonly notes: Reading['notes'];
  readonly leftOut: readonly string[];
}

/**
 * Reads what one document says.
 *
 * @throws HoldfastError `config_invalid` when the document is no object, or has more than {@link maxServers} entries.
 */
export function readSource(document: ConfigDocument, given: Given): SourceReading {
  const { file, value, syntax } = document;
  const path = file.replaceAll('\\', '/');
  const format = detectFormat({ path, syntax, root: isRecord(value) ? value : {} });
  const base = { document, format };
  if (value === undefined) {
    const note = {
      code: 'no-value',
      message: 'expected "mcpServers", got a document without a value. It adds nothing.',
    };
    return { ...base, root: undefined, entries: [], notes: [note], leftOut: [] };
  }
  if (!isRecord(value)) throw documentError(document, [], 'expected an object with "mcpServers"');
  const directory = projectOf(file);
  const context = withDefaults(given, file, format, isBareMap(value));
  const { entries, notes, leftOut, tooMany } = format.read(value, { given: context, path });
  if (tooMany !== undefined)
    throw documentError(document, [], `expected at most ${maxServers} servers, got ${tooMany}. Split the file`);
  return {
    ...base,
    root: value,
    entries: entries.map((entry) => readEntry(entry, { file, directory, format, given: context })),
    notes: [...duplicateNotes(document), ...notes],
    leftOut,
  };
}

/** The error of a document that is read and cannot be used. */
export function documentError(
  document: ConfigDocument,
  path: readonly (string | number)[],
  problem: string,
): HoldfastError {
  const { line, column } = document.locate(path);
  return new HoldfastError(
    'config_invalid',
    `"${document.file}", line ${line}, column ${column}: ${problem}. Mend the file; nothing of it was used.`,
    {
      issues: [{ path: path.map((part) => `/${escapePointer(String(part))}`).join(''), message: problem }],
      data: { file: document.file, line, column },
    },
  );
}

/** The project a file belongs to: where it is, or the parent of a tool's own folder. */
function projectOf(file: string): string {
  const directory = dirname(file);
  return /[\\/]\.(?:vscode|cursor|codex|gemini|roo|zed|[a-z]+-plugin)$/.test(directory)
    ? dirname(directory)
    : directory;
}

/** What references point to where the caller says nothing. */
function withDefaults(given: Given, file: string, { id }: ConfigFormat, isBare: boolean): Given {
  const { readFile, userHome } = given;
  const directory = projectOf(file);
  const isPlugin = id === 'claude-plugin' || (id === 'claude-mcp-json' && isBare);
  return {
    ...given,
    // The file of a user is in no project: the one that is worked in counts.
    workspaceFolder: given.workspaceFolder ?? (id === 'claude-json' ? process.cwd() : directory),
    ...(isPlugin && given.pluginRoot === undefined && given.env['CLAUDE_PLUGIN_ROOT'] === undefined
      ? { pluginRoot: directory }
      : {}),
    ...(readFile === undefined
      ? {}
      : {
          readFile: (path: string) => {
            const whole = userHome !== undefined && /^~[\\/]/.test(path) ? userHome + path.slice(1) : path;
            return readFile(isAbsolute(whole) ? whole : resolve(directory, whole));
          },
        }),
  };
}

function duplicateNotes({ duplicates }: ConfigDocument): Reading['notes'] {
  const said = duplicates.slice(0, maxDuplicates).map((pointer) => {
    const [, wrapper = '', second] = pointer.split('/');
    const server = wrappers.has(wrapper) ? second : undefined;
    return {
      code: 'duplicate-key',
      ...(server === undefined ? {} : { server: server.replaceAll('~1', '/').replaceAll('~0', '~') }),
      message: `expected each key once, got "${pointer}" again. The last one is used.`,
    };
  });
  const more = duplicates.length - said.length;
  return more <= 0
    ? said
    : [...said, { code: 'duplicate-key', message: `and ${more} more keys came again. The last of each is used.` }];
}
