/** Where in a document the servers are: under the format's own key, under another tool's, or as the document itself. */
import { isRecord } from '../../domain/json.ts';
import { type FieldTable, readFields } from './fields.ts';
import { countTooMany, isServerLike, type NamedDraft, type Reading } from './format.ts';

/** How the servers of a document are found. */
export interface SectionOptions {
  /** The format's own key. */
  readonly wrapper: string;
  /** Keys of other tools that are read too, with a word about it. */
  readonly others?: readonly string[];
  /** Whether the document itself may be the map. */
  readonly allowsBareMap?: boolean;
  /** Keys of the document that are understood besides. */
  readonly known?: readonly string[];
  readonly fields: FieldTable;
}

type Named = readonly [name: string, entry: unknown, isNameless?: true];

/** Reads the servers of a document with one map (or list) of them. */
export function readSections(root: Readonly<Record<string, unknown>>, options: SectionOptions): Reading {
  const { wrapper, others = [], fields } = options;
  const keys = [...others.filter((key) => isSection(root[key])), ...(Object.hasOwn(root, wrapper) ? [wrapper] : [])];
  const leftOut = Object.keys(root).filter(
    (key) => key !== '$schema' && !keys.includes(key) && options.known?.includes(key) !== true,
  );
  const isBare = keys.length === 0 && options.allowsBareMap === true && isBareMap(root);
  const excess = countTooMany(...(isBare ? [root] : keys.map((key) => root[key])));
  if (excess.tooMany !== undefined) return { entries: [], notes: [], leftOut, ...excess };
  const [only] = keys;
  if (only === undefined) {
    if (isBare) return { entries: Object.entries(root).map((entry) => toDraft(entry, fields)), notes: [], leftOut: [] };
    return { entries: [], notes: [noSection(wrapper, root)], leftOut };
  }
  const notes: Reading['notes'][number][] = [];
  const entries = new Map<string, NamedDraft>();
  if (keys.length > 1)
    notes.push({
      code: 'two-wrappers',
      message: `expected "${wrapper}" alone, got ${quoted(keys)}. All were read; by name, "${wrapper}" wins.`,
    });
  else if (only !== wrapper)
    notes.push({ code: 'foreign-wrapper', message: `expected "${wrapper}", got "${only}". Its servers were taken.` });
  for (const key of keys) {
    for (const named of namedEntries(key, root[key], notes)) {
      const [name] = named;
      if (entries.has(name))
        notes.push({
          code: 'name-collision',
          server: name,
          message: `"${name}" is in two of ${quoted(keys)}. The one in "${key}" is used.`,
        });
      entries.set(name, toDraft(named, fields));
    }
  }
  return { entries: [...entries.values()], notes, leftOut };
}

/** The entries of one section: a map, or a list of named objects. */
export function namedEntries(key: string, section: unknown, notes: Reading['notes'][number][]): readonly Named[] {
  if (isRecord(section)) return Object.entries(section);
  if (!Array.isArray(section)) {
    notes.push({
      code: 'no-mcp-section',
      message: `expected "${key}" to be an object, got ${section === null ? 'null' : typeof section}. It adds no server.`,
    });
    return [];
  }
  notes.push({
    code: 'array-wrapper',
    message: `expected "${key}" to be an object, got a list. Its entries were taken by their "name".`,
  });
  return section.map((entry: unknown, index): Named => {
    if (!isRecord(entry) || typeof entry['name'] !== 'string' || entry['name'] === '')
      return [`#${index + 1}`, entry, true];
    const { name, ...rest } = entry;
    return [name, rest];
  });
}

/** The draft of one named entry. */
export function toDraft([name, entry, isNameless]: Named, fields: FieldTable): NamedDraft {
  return {
    name,
    draft: isRecord(entry) ? readFields(entry, fields) : undefined,
    ...(isNameless === true ? { isNameless } : {}),
  };
}

/** What is said of a document without servers. */
export function noSection(wrapper: string, root: Readonly<Record<string, unknown>>): Reading['notes'][number] {
  const keys = Object.keys(root);
  return {
    code: 'no-mcp-section',
    message: `expected "${wrapper}", got ${keys.length === 0 ? 'an empty object' : quoted(keys.slice(0, 8))}. It adds no server.`,
  };
}

/** Tells whether a document is a map of servers without any wrapper. */
export function isBareMap(root: Readonly<Record<string, unknown>>): boolean {
  const values = Object.values(root);
  return values.length > 0 && values.every(isServerLike);
}

function isSection(value: unknown): boolean {
  const inner = isRecord(value) || Array.isArray(value) ? Object.values(value) : [];
  return inner.length > 0 && inner.every(isRecord) && inner.some(isServerLike);
}

function quoted(names: readonly string[]): string {
  return names.map((key) => `"${key}"`).join(', ');
}
