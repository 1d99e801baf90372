/** Where tables and keys of a TOML document stand: its parser does not say. */
import { type Position, start } from '../position.ts';

const header = /^\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$/;
const assignment = /^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+))*)\s*=/;
const part = /"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+)/g;

/**
 * The line of the header or the key that comes closest to a path; the start of the document when none begins it.
 *
 * Texts over several lines are not known here: one that looks like a header is taken for one.
 */
export function locateInToml(text: string, path: readonly (string | number)[]): Position {
  const wanted = path.map(String);
  let best = { length: 0, at: start };
  let table: readonly string[] = [];
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    const [, name] = header.exec(line) ?? [];
    const [, key] = name === undefined ? (assignment.exec(line) ?? []) : [];
    if (name === undefined && key === undefined) continue;
    if (name !== undefined) table = partsOf(name);
    const here = key === undefined ? table : [...table, ...partsOf(key)];
    const length = Math.min(here.length, wanted.length);
    const agrees = here.slice(0, length).every((each, at) => each === wanted[at]);
    if (agrees && length > best.length)
      best = { length, at: { line: index + 1, column: line.length - line.trimStart().length + 1 } };
  }
  return best.at;
}

function partsOf(name: string): readonly string[] {
  return [...name.matchAll(part)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}
