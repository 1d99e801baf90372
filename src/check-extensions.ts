/** Checks the extensions and sections a thread is made with, where types cannot. What comes later is a warning. */
import { HoldfastError } from './domain/errors.ts';
import { isRecord, shown } from './domain/json.ts';

/** @throws HoldfastError `invalid_argument` for extensions or sections that are none, and for ids used twice. */
export function checkExtensions({
  extensions,
  worldState,
}: {
  readonly extensions?: unknown;
  readonly worldState?: unknown;
}): void {
  if (extensions === undefined && worldState === undefined) return;
  const given = listOf(extensions, 'extensions');
  checkIds(given, 'extension');
  checkIds([...listOf(worldState, 'worldState'), ...given.flatMap(sectionsOf)], 'section of the world state');
}

/** The sections that are there from the start; what an extension throws is told when it is followed. */
function sectionsOf(extension: unknown): readonly unknown[] {
  try {
    const sections = isRecord(extension) ? extension['worldState'] : undefined;
    return Array.isArray(sections) ? sections : [];
  } catch {
    return [];
  }
}

function listOf(value: unknown, name: string): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new HoldfastError('invalid_argument', `Expected ${name} to be a list, got ${shown(value)}.`);
}

function checkIds(values: readonly unknown[], what: string): void {
  const ids = new Set<unknown>();
  for (const value of values) {
    const id = isRecord(value) ? value['id'] : undefined;
    if (typeof id !== 'string' || id === '')
      throw new HoldfastError('invalid_argument', `Expected each ${what} to have an id, got ${shown(id ?? value)}.`);
    if (ids.has(id) || (what.startsWith('section') && own.has(id)))
      throw new HoldfastError('invalid_argument', `Expected each ${what} to have its own id, got "${id}" again.`);
    ids.add(id);
  }
}

/** The ids of Holdfast's own sections (`src/catalog/world-sections.ts`, which is loaded on demand). */
const own: ReadonlySet<string> = new Set(['environments', 'servers', 'plugins', 'tools', 'skills', 'omitted']);
