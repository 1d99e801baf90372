/** The arguments of a call as a person types them: one JSON object, or `key=value` words. */
import type { Json, JsonObject, ToolInfo } from '../index.ts';
import { UsageError } from './usage-error.ts';
import { isObject } from './values.ts';

/**
 * Cuts a line into words as a shell does: blanks separate, quotes hold together, a backslash takes the next as it is.
 *
 * @throws UsageError when a quote is not closed.
 */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let index = 0; index < line.length; index += 1) {
    const char = line.charAt(index);
    if (char === '\\' && quote !== "'" && index + 1 < line.length) {
      index += 1;
      word = (word ?? '') + line.charAt(index);
    } else if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else word = (word ?? '') + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== undefined)
    throw new UsageError(`Expected the quote ${quote} to be closed. Close it, or put a backslash before it.`);
  if (word !== undefined) words.push(word);
  return words;
}

/**
 * Reads arguments of a tool from text.
 *
 * @throws UsageError for text that is neither a JSON object nor `key=value` words.
 */
export function parseArguments(text: string, tool: Pick<ToolInfo, 'inputSchema'>): JsonObject {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  if (trimmed.startsWith('{')) return parseObject(trimmed);
  return parsePairs(splitWords(trimmed), tool);
}

/** Reads arguments that a shell already cut into words. */
export function parseWords(words: readonly string[], tool: Pick<ToolInfo, 'inputSchema'>): JsonObject {
  const [first] = words;
  if (first === undefined) return {};
  return words.length === 1 && first.trimStart().startsWith('{') ? parseObject(first) : parsePairs(words, tool);
}

/**
 * Reads one JSON object.
 *
 * @throws UsageError
 */
export function parseObject(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value))
    throw new UsageError(
      'Expected the arguments to be one JSON object, such as {"message": "hello"}, got text that is none.',
    );
  return value;
}

function parsePairs(words: readonly string[], tool: Pick<ToolInfo, 'inputSchema'>): JsonObject {
  const entries = words.map((word) => {
    const at = word.indexOf('=');
    if (at < 1)
      throw new UsageError(`Expected key=value or a JSON object, got "${word}". Write, for example, message=hello.`);
    const key = word.slice(0, at);
    return [key, valueOf(word.slice(at + 1), typeOf(tool.inputSchema, key))] as const;
  });
  return Object.fromEntries(entries);
}

function typeOf(schema: JsonObject, key: string): unknown {
  const properties = schema['properties'];
  const property: unknown = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  return isObject(property) ? property['type'] : undefined;
}

/** Text stays text where the schema asks for a string; elsewhere it is read as JSON where it is some. */
function valueOf(text: string, type: unknown): Json {
  if (type === 'string') return text;
  const value = parseJson(text);
  return value === undefined ? text : value;
}

function parseJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The place that says what `JSON.parse` gives is JSON. */
function isJson(value: unknown): value is Json {
  return value !== undefined;
}

function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
