/** Where in its file a server stands: line and column, for whoever is told to mend it. */
import { resolve } from 'node:path';
import { isRecord } from '../domain/json.ts';
import { checkFiles } from './check-arguments.ts';
import { type ConfigDocument, readDocument } from './document.ts';

/** A place in a file; line and column count from 1. */
export interface ConfigPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The places of some files. */
export interface ConfigPlaces {
  /**
   * Where the entry of a server stands, or a part of it: `pointer` is one within the entry, such as `/command`. Of several
   * files the last one counts, as it does in reading.
   */
  find(server: string, pointer?: string): ConfigPlace | undefined;
}

/** How deep in a document servers may be: `projects/DIRECTORY/mcpServers/NAME` is the deepest there is. */
const deepest = 4;

/** The keys servers stand under, in any format. */
const wrappers = new Set(['mcpServers', 'servers', 'mcp', 'mcp_servers', 'context_servers', 'extensions']);

type Path = readonly (string | number)[];

/** Reads files to find servers in. A file that cannot be read has no places. */
export async function readPlaces(files: readonly string[]): Promise<ConfigPlaces> {
  checkFiles(files, 'readPlaces');
  const read = await Promise.all(files.map((file) => readDocument(resolve(file)).catch(() => undefined)));
  const documents = read.filter((document) => document !== undefined).toReversed();
  return {
    find: (server, pointer = '') => {
      for (const document of documents) {
        const path = pathOf(document.value, server, [], true);
        if (path !== undefined) return placeOf(document, [...path, ...segmentsOf(pointer)]);
      }
      return undefined;
    },
  };
}

function placeOf(document: ConfigDocument, path: Path): ConfigPlace {
  return { file: document.file, ...document.locate(path) };
}

function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The way to an entry: under a wrapper first, then, for a document that is itself the map, at the top. */
function pathOf(value: unknown, server: string, path: Path, isRoot = false): Path | undefined {
  if (!isRecord(value) || path.length >= deepest) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = wrappers.has(key) ? entryOf(inner, server) : undefined;
    if (found !== undefined) return [...path, key, found];
  }
  for (const [key, inner] of Object.entries(value)) {
    const found = pathOf(inner, server, [...path, key]);
    if (found !== undefined) return found;
  }
  return isRoot && Object.hasOwn(value, server) ? [server] : undefined;
}

/** The key of an entry in a map, or its index in a list of named ones. */
function entryOf(section: unknown, server: string): string | number | undefined {
  if (isRecord(section)) return Object.hasOwn(section, server) ? server : undefined;
  if (!Array.isArray(section)) return undefined;
  const index = section.findIndex(
    (entry: unknown, at) => (isRecord(entry) && entry['name'] === server) || server === `#${at + 1}`,
  );
  return index < 0 ? undefined : index;
}
