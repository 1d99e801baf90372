/** Reads the repository's own files and what they import, for the tests that check its shape. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of the package. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every TypeScript file below a folder of the repository, as POSIX paths from its root. */
export function listFiles(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted();
}

/** The text of a file given by its path from the repository's root. */
export function readSource(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

// Statements start a line, so that an import in a doc comment is not one. A clause holds none of `' " ; = (`.
const statements = /^(?:import|export)\s+(?:[^'";=(]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const dynamicImports = /\bimport\(\s*['"]([^'"]+)['"]/g;

/** The specifiers a source text imports: static, re-exported, for their side effects, and dynamic. */
export function readImports(source: string): readonly string[] {
  return [...source.matchAll(statements), ...source.matchAll(dynamicImports)].flatMap((match) => match[1] ?? []);
}

/** What a relative specifier in `file` means, as a path from the repository's root; other specifiers as they are. */
export function resolveImport(file: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
}
