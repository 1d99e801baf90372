/** YAML, for goose and LibreChat. */
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { HoldfastError } from '../../domain/errors.ts';
import { depthError, escapePointer, type ParsedText, type Position, start, syntaxError } from '../position.ts';

/** The largest YAML document that is read, in characters: its parser is slow, and slower than linear on some texts. */
export const maxYamlLength = 512 * 1024;

const maxFlowDepth = 64;
const maxExplicitKeys = 64;
const maxAliases = 100;

/**
 * Parses one YAML document of the core schema, with merge keys.
 *
 * @throws HoldfastError `config_syntax`; `config_invalid` when it is larger than {@link maxYamlLength}.
 */
export function parseYaml(file: string, text: string): ParsedText {
  if (text.length > maxYamlLength)
    throw new HoldfastError(
      'config_invalid',
      `Expected "${file}" to have at most ${maxYamlLength} characters of YAML, got ${text.length}. Split it, or write it as JSON.`,
    );
  // Beyond these the parser takes minutes, or all memory.
  if (flowDepth(text) > maxFlowDepth || explicitKeys(text) > maxExplicitKeys) throw depthError(file);
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      uniqueKeys: false,
      merge: true,
      prettyErrors: false,
      logLevel: 'error',
    });
    const [first] = document.errors;
    if (first !== undefined)
      throw syntaxError(
        file,
        positionOf(lines, first.pos[0]),
        `expected YAML, got this: ${reasons[first.code] ?? 'a structure that is none'}`,
      );
    const value: unknown = document.toJS({ maxAliasCount: maxAliases });
    const duplicates: string[] = [];
    if (document.contents !== null) findDuplicates(document.contents, '', duplicates);
    return {
      value: value ?? undefined,
      duplicates,
      locate: (path) => {
        // What is not there is where it is missing from.
        for (let length = path.length; length > 0; length--) {
          const node: unknown = document.getIn(path.slice(0, length), true);
          if (isNode(node) && node.range) return positionOf(lines, node.range[0]);
        }
        return start;
      },
    };
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    if (error instanceof RangeError) throw depthError(file);
    throw syntaxError(
      file,
      start,
      'expected YAML whose aliases can be followed, got ones that multiply or lead nowhere',
    );
  }
}

const reasons: Readonly<Record<string, string>> = {
  ALIAS_PROPS: 'an alias with a tag or an anchor',
  BAD_ALIAS: 'an alias without a name',
  BAD_DIRECTIVE: 'a directive nobody knows',
  BAD_DQ_ESCAPE: 'an unknown escape in a quoted text',
  BAD_INDENT: 'a line that is indented otherwise than its neighbours',
  BAD_SCALAR_START: 'a text that begins with a reserved character; quote it',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping within a mapping on one line',
  BLOCK_IN_FLOW: 'a block within brackets',
  KEY_OVER_1024_CHARS: 'a key of more than 1024 characters',
  MISSING_CHAR: 'a missing quote, comma or bracket',
  MULTILINE_IMPLICIT_KEY: 'a key over several lines',
  MULTIPLE_ANCHORS: 'two anchors on one value',
  MULTIPLE_DOCS: 'several documents in one file',
  MULTIPLE_TAGS: 'two tags on one value',
  TAB_AS_INDENT: 'a tab as indentation',
  TAG_RESOLVE_FAILED: 'a value that does not fit its tag',
  UNEXPECTED_TOKEN: 'a character that has no place here',
};

function positionOf(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** How deep brackets nest, at most: those in quotes and comments count too. */
function flowDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const bracket of text.match(/[[\]{}]/g) ?? []) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function explicitKeys(text: string): number {
  return text.match(/(?:^|[-?:[{,])[ \t]*\?(?=\s)/gm)?.length ?? 0;
}

function findDuplicates(node: Node, pointer: string, duplicates: string[]): void {
  if (isAlias(node)) return;
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries())
      if (isNode(item)) findDuplicates(item, `${pointer}/${index}`, duplicates);
    return;
  }
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const at = `${pointer}/${escapePointer(name)}`;
    if (seen.has(name) && name !== '<<') duplicates.push(at);
    seen.add(name);
    if (isNode(value)) findDuplicates(value, at, duplicates);
  }
}
