/** JSON as people write it: comments and trailing commas (JSONC), and what JSON5 allows beyond that. */
import JSON5 from 'json5';
import { type Node, type ParseError, type ParseErrorCode, parseTree, printParseErrorCode } from 'jsonc-parser';
import {
  depthError,
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
    const json5 = text.length <= maxJson5Length ? parseJson5(text) : undefined;
    if (json5 === undefined)
      throw syntaxError(file, positionAt(text, first.offset), `expected ${expectation(first.error)}`);
    return json5;
  }
  const duplicates: string[] = [];
  const value = root === undefined ? undefined : valueOf(root, '', duplicates);
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

function parseJson5(text: string): ParsedText | undefined {
  try {
    const value: unknown = JSON5.parse(text);
    return { value, duplicates: [], locate: (): Position => start };
  } catch {
    // Neither: the caller reports what JSONC says.
    return undefined;
  }
}

function valueOf(node: Node, pointer: string, duplicates: string[]): unknown {
  if (node.type === 'array')
    return (node.children ?? []).map((child, index) => valueOf(child, `${pointer}/${index}`, duplicates));
  if (node.type !== 'object') return node.value as unknown;
  const entries = new Map<string, unknown>();
  for (const member of node.children ?? []) {
    const [key, value] = member.children ?? [];
    if (key === undefined || value === undefined) continue;
    const name = String(key.value);
    const at = `${pointer}/${escapePointer(name)}`;
    if (entries.has(name)) duplicates.push(at);
    entries.set(name, valueOf(value, at, duplicates));
  }
  // fromEntries defines own properties, so a key `__proto__` is a key like any other.
  return Object.fromEntries(entries);
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
