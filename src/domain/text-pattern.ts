/**
 * Matches a text against a pattern a peer sent, in bounded time.
 *
 * A backtracking engine can take forever on a hostile pattern, so this one walks all alternatives at once: its work grows
 * with pattern × text and stops at a fixed budget. Single characters and classes are left to the built-in engine.
 */

import type { Instruction, PatternNode } from './pattern-program.ts';
import { matchesNode } from './pattern-program.ts';

interface Reader {
  readonly source: string;
  readonly unicode: boolean;
  at: number;
}

const maxPatternLength = 512;
const maxTextLength = 10_000;

/**
 * Tells whether a text matches a JSON Schema `pattern` (unanchored, as the standard says).
 *
 * `undefined` means not evaluated: an invalid pattern, one longer than 512 characters, one with back-references or
 * look-behind, a text longer than 10,000 characters, or more work than the budget allows. Callers accept such a text,
 * because the server that sent the pattern checks it again.
 */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  if (pattern.length > maxPatternLength || text.length > maxTextLength) return undefined;
  const unicode = isValid(pattern, 'u');
  if (!unicode && !isValid(pattern, '')) return undefined;
  const reader: Reader = { source: pattern, unicode, at: 0 };
  const node = readEither(reader);
  if (node === undefined || reader.at < pattern.length) return undefined;
  return matchesNode(node, unicode ? Array.from(text) : text.split(''));
}

function isValid(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags).source !== '';
  } catch {
    return false;
  }
}

function readEither(reader: Reader): PatternNode | undefined {
  const parts: PatternNode[] = [];
  for (;;) {
    const part = readAll(reader);
    if (part === undefined) return undefined;
    parts.push(part);
    if (reader.source[reader.at] !== '|') return { kind: 'either', parts };
    reader.at += 1;
  }
}

function readAll(reader: Reader): PatternNode | undefined {
  const parts: PatternNode[] = [];
  for (;;) {
    const next = reader.source[reader.at];
    if (next === undefined || next === '|' || next === ')') return { kind: 'all', parts };
    const atom = readAtom(reader);
    if (atom === undefined) return undefined;
    parts.push(readRepeat(reader, atom));
  }
}

function readRepeat(reader: Reader, node: PatternNode): PatternNode {
  const found = take(reader, /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y);
  if (found === undefined) return node;
  const [, sign, low, comma, high] = found;
  if (sign !== undefined) return { kind: 'repeat', node, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
  const min = Number(low);
  if (comma === undefined) return { kind: 'repeat', node, min, max: min };
  return { kind: 'repeat', node, min, max: high === '' ? Infinity : Number(high) };
}

function readAtom(reader: Reader): PatternNode | undefined {
  switch (reader.source[reader.at]) {
    case undefined:
      return undefined;
    case '(':
      return readGroup(reader);
    case '^':
      reader.at += 1;
      return leaf({ op: 'assert', holds: (_units, at) => at === 0 });
    case '$':
      reader.at += 1;
      return leaf({ op: 'assert', holds: (units, at) => at === units.length });
    case '[':
      return readUnit(reader, /\[(?:[^\]\\]|\\[^])*\]/y);
    case '\\':
      return readEscape(reader);
    case '.':
      return readUnit(reader, /\./y);
    default: {
      const literal = take(reader, reader.unicode ? /[^]/uy : /[^]/y)?.[0];
      return leaf({ op: 'unit', test: (unit) => unit === literal });
    }
  }
}

function readGroup(reader: Reader): PatternNode | undefined {
  const open = take(reader, /\((?:\?(?:[:=!]|<[^=!>][^>]*>))?/y)?.[0];
  if (open === undefined || (open === '(' && reader.source[reader.at] === '?')) return undefined;
  const node = readEither(reader);
  if (node === undefined) return undefined;
  reader.at += 1;
  if (open === '(?=' || open === '(?!') return { kind: 'look', node, negate: open === '(?!' };
  return node;
}

function readEscape(reader: Reader): PatternNode | undefined {
  const edge = take(reader, /\\([bB])/y)?.[1];
  if (edge !== undefined) return leaf({ op: 'assert', holds: (units, at) => isEdge(units, at) === (edge === 'b') });
  const unicodeEscape =
    /\\(?:u\{[0-9a-f]+\}|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|u[0-9a-f]{4}|x[0-9a-f]{2}|p\{[^}]*\}|c[a-z]|0|[^1-9kpuxc])/iuy;
  return readUnit(reader, reader.unicode ? unicodeEscape : /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|0(?!\d)|[^0-9kuxc])/iy);
}

/** Reads an atom that takes one character, and lets the built-in engine test single characters against it. */
function readUnit(reader: Reader, shape: RegExp): PatternNode | undefined {
  const atom = take(reader, shape)?.[0];
  if (atom === undefined) return undefined;
  const expression = new RegExp(`^(?:${atom})$`, reader.unicode ? 'u' : '');
  return leaf({ op: 'unit', test: (unit) => expression.test(unit) });
}

function take(reader: Reader, shape: RegExp): readonly (string | undefined)[] | undefined {
  shape.lastIndex = reader.at;
  const found = shape.exec(reader.source);
  if (found === null) return undefined;
  reader.at = shape.lastIndex;
  return found;
}

function leaf(instruction: Instruction): PatternNode {
  return { kind: 'leaf', instruction };
}

function isEdge(units: readonly string[], at: number): boolean {
  return isWordUnit(units[at - 1]) !== isWordUnit(units[at]);
}

function isWordUnit(unit: string | undefined): boolean {
  return unit !== undefined && /^\w$/.test(unit);
}
