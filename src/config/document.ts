/**
 * Text to value: reads one JSON document as people write it (JSONC, trailing commas, BOM, CRLF).
 *
 * Owns nothing. Every failure names the file, the line and the column; no text of the file is ever quoted.
 */
import { open } from 'node:fs/promises';
import { type Node, type ParseError, type ParseErrorCode, parseTree, printParseErrorCode } from 'jsonc-parser';
import { HoldfastError, messageOf } from '../domain/errors.ts';

/** The largest configuration file that is read, in bytes. */
export const maxConfigBytes = 10 * 1024 * 1024;

/** A place in a document, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One parsed document. */
export interface ConfigDocument {
  readonly file: string;
  /** `undefined` when the document holds nothing but comments and blanks. */
  readonly value: unknown;
  /** Keys that came twice in one object, as JSON Pointers; the last one is used. */
  readonly duplicates: readonly string[];
  /** Where the value at this path starts; the start of the document when nothing is there. */
  locate(path: readonly (string | number)[]): Position;
}

/**
 * Reads and parses one file.
 *
 * @throws HoldfastError `config_syntax` with line and column in `data`; `config_invalid` when the file cannot be read,
 * is not a file, or is larger than {@link maxConfigBytes}.
 */
export async function readDocument(file: string): Promise<ConfigDocument> {
  return parseDocument(file, await readBytes(file));
}

/**
 * Parses the bytes of one file.
 *
 * @throws HoldfastError `config_syntax`
 */
export function parseDocument(file: string, bytes: Uint8Array): ConfigDocument {
  const text = decode(file, bytes);
  const errors: ParseError[] = [];
  const root = parse(file, text, errors);
  const [first] = errors;
  if (first !== undefined)
    throw syntaxError(file, positionAt(text, first.offset), `expected ${expectation(first.error)}`);
  const duplicates: string[] = [];
  const value = root === undefined ? undefined : valueOf(root, '', duplicates);
  return {
    file,
    value,
    duplicates,
    locate: (path) => positionAt(text, (root === undefined ? undefined : find(root, path))?.offset ?? 0),
  };
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file, 'r');
    try {
      const stats = await handle.stat();
      if (!stats.isFile())
        throw new HoldfastError(
          'config_invalid',
          `Expected "${file}" to be a file, got ${stats.isDirectory() ? 'a directory' : 'a device or a pipe'}. Name a configuration file.`,
        );
      if (stats.size > maxConfigBytes)
        throw new HoldfastError(
          'config_invalid',
          `Expected "${file}" to have at most ${maxConfigBytes} bytes, got ${stats.size}. Split it, or name another file.`,
        );
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw new HoldfastError(
      'config_invalid',
      `Expected to read "${file}", got: ${messageOf(error)}. Check the path and its permissions.`,
      { cause: error },
    );
  }
}

function decode(file: string, bytes: Uint8Array): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw syntaxError(file, { line: 1, column: 1 }, 'expected UTF-8, got UTF-16');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder('utf-8').decode(bytes);
    throw syntaxError(file, positionAt(text, Math.max(0, text.indexOf('\uFFFD'))), 'expected UTF-8, got other bytes');
  }
}

function parse(file: string, text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    // The parser is recursive: only nesting beyond any real configuration overflows it.
    if (error instanceof RangeError)
      throw syntaxError(
        file,
        { line: 1, column: 1 },
        'expected a document of reasonable depth, got one nested too deeply',
      );
    throw error;
  }
}

function syntaxError(file: string, at: Position, problem: string): HoldfastError {
  return new HoldfastError(
    'config_syntax',
    `"${file}", line ${at.line}, column ${at.column}: ${problem}. Mend the file; nothing of it was used.`,
    {
      issues: [{ path: '', message: `line ${at.line}, column ${at.column}: ${problem}` }],
      data: { file, line: at.line, column: at.column },
    },
  );
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
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

/** Escapes one segment of a JSON Pointer. */
export function escapePointer(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
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
