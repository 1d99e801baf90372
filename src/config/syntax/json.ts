/** JSON as people write it: comments and trailing commas (JSONC), and what JSON5 allows beyond that. */
import JSON5 from 'json5';
import { type Node, type ParseError, type ParseErrorCode, parseTree, printParseErrorCode } from 'jsonc-parser';
import {
  depthError,
  maxDepth,
  escapePointer,
  type ParsedText,
  type Position,
  positionAt,
  start,
  syntaxError,
} from '../position.ts';

/** The largest text that is tried as JSON5: its parser is an order slower. */
const maxJson5Length = 1024 * 1024;

/**
 * Parses JSON, JSONC or JSON5.
 *
 * @throws HoldfastError `config_syntax` with the place where JSONC ends to make sense.
 */
export function parseJson(file: string, text: string): ParsedText {
  const errors: ParseError[] = [];
  const root = parseNodes(file, text, errors);
  const [first] = errors;
  if (first !== undefined) {
    const at = positionAt(text, first.offset);
    const json5 = text.length <= maxJson5Length ? parseJson5(text) : undefined;
    if (json5?.kind === 'value') return { value: json5.value, duplicates: [], locate: (): Position => start };
    // Where JSON5 gets further, the document is meant as that.
    if (json5 !== undefined && isAfter(json5.at, at)) throw syntaxError(file, json5.at, 'expected JSON5');
    throw syntaxError(file, at, `expected ${expectation(first.error)}`);
  }
  const duplicates: string[] = [];
  const value = root === undefined ? undefined : valueOf(root, undefined, { file, duplicates, depth: 0 });
  return {
    value,
    duplicates,
    locate: (path) => positionAt(text, (root === undefined ? undefined : find(root, path))?.offset ?? 0),
  };
}

function parseNodes(file: string, text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    if (error instanceof RangeError) throw depthError(file);
    throw error;
  }
}

type Json5 = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'error'; readonly at: Position };

function parseJson5(text: string): Json5 {
  try {
    return { kind: 'value', value: JSON5.parse(text) };
  } catch (error) {
    const { lineNumber: line, columnNumber: column }: Readonly<Record<string, unknown>> = { ...placeOf(error) };
    return {
      kind: 'error',
      at: typeof line === 'number' && typeof column === 'number' ? { line, column } : start,
    };
  }
}

/** The parser's errors carry their place as fields. */
function placeOf(error: unknown): object {
  return error instanceof SyntaxError ? error : {};
}

function isAfter(a: Position, b: Position): boolean {
  return a.line > b.line || (a.line === b.line && a.column > b.column);
}

/** Where a value is, from the innermost key outwards: written out only for keys that come twice. */
interface Trail {
  readonly key: string;
  readonly parent: Trail | undefined;
}

interface Walk {
  readonly file: string;
  readonly duplicates: string[];
  depth: number;
}

function valueOf(node: Node, trail: Trail | undefined, walk: Walk): unknown {
  if (node.type !== 'array' && node.type !== 'object') return node.value as unknown;
  if (walk.depth >= maxDepth) throw depthError(walk.file);
  walk.depth += 1;
  const value = node.type === 'array' ? listOf(node, trail, walk) : objectOf(node, trail, walk);
  walk.depth -= 1;
  return value;
}

function listOf(node: Node, trail: Trail | undefined, walk: Walk): unknown {
  return (node.children ?? []).map((child, index) => valueOf(child, { key: String(index), parent: trail }, walk));
}

function objectOf(node: Node, trail: Trail | undefined, walk: Walk): unknown {
  const object: Record<string, unknown> = {};
  for (const member of node.children ?? []) {
    const [key, value] = member.children ?? [];
    if (key === undefined || value === undefined) continue;
    const at = { key: String(key.value), parent: trail };
    if (Object.hasOwn(object, at.key)) walk.duplicates.push(pointerOf(at));
    const inner = valueOf(value, at, walk);
    // A key `__proto__` is a key like any other.
    if (at.key === '__proto__')
      Object.defineProperty(object, at.key, { value: inner, writable: true, enumerable: true, configurable: true });
    else object[at.key] = inner;
  }
  return object;
}

function pointerOf({ key, parent }: Trail): string {
  return `${parent === undefined ? '' : pointerOf(parent)}/${escapePointer(key)}`;
}

function find(root: Node, path: readonly (string | number)[]): Node {
  let node = root;
  for (const segment of path) {
    const next =
      typeof segment === 'number' || node.type === 'array' ? node.children?.[Number(segment)] : property(node, segment);
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

function property(node: Node, name: string): Node | undefined {
  return node.type === 'object'
    ? node.children?.filter((child) => child.children?.[0]?.value === name).at(-1)?.children?.[1]
    : undefined;
}

const expectations: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a JSON value',
  InvalidNumberFormat: 'a number',
  PropertyNameExpected: 'a property name in double quotes',
  ValueExpected: 'a value',
  ColonExpected: 'a colon',
  CommaExpected: 'a comma',
  CloseBraceExpected: 'a closing brace',
  CloseBracketExpected: 'a closing bracket',
  EndOfFileExpected: 'the end of the file',
  InvalidCommentToken: 'a comment that is closed',
  UnexpectedEndOfComment: 'a comment that is closed',
  UnexpectedEndOfString: 'a string that is closed',
  UnexpectedEndOfNumber: 'a number',
  InvalidUnicode: 'four hexadecimal digits after "\\u"',
  InvalidEscapeCharacter: 'a known escape after the backslash',
  InvalidCharacter: 'no control characters in a string',
};

function expectation(code: ParseErrorCode): string {
  return expectations[printParseErrorCode(code)] ?? 'JSON';
}
