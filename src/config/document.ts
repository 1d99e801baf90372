/**
 * Text to value: reads one document as people write it (JSONC, JSON5, TOML or YAML; BOM, CRLF).
 *
 * Owns nothing. Every failure names the file, the line and the column; no text of the file is ever quoted.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { depthError, isTooDeep, type ParsedText, positionAt, start, syntaxError } from './position.ts';
import { parseJson } from './syntax/json.ts';
import { parseToml } from './syntax/toml.ts';
import { parseYaml } from './syntax/yaml.ts';

/** The largest configuration file that is read, in bytes. */
export const maxConfigBytes = 10 * 1024 * 1024;

/** The languages configuration is written in. `json` stands for JSONC and JSON5 too. */
export type Syntax = 'json' | 'toml' | 'yaml';

/** One parsed document. */
export interface ConfigDocument extends ParsedText {
  readonly file: string;
  readonly syntax: Syntax;
  /** There was not a character in it: an editor may be about to write it. */
  readonly isEmpty: boolean;
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
 * @throws HoldfastError `config_syntax`; `config_invalid` when it is too large.
 */
export function parseDocument(file: string, bytes: Uint8Array): ConfigDocument {
  return parseText(file, decode(file, bytes));
}

/**
 * Parses the text of one file: by its extension, and by what it looks like where that says nothing.
 *
 * @throws HoldfastError `config_syntax`; `config_invalid` when it is too large.
 */
export function parseText(file: string, text: string): ConfigDocument {
  if (text.length > maxConfigBytes) throw sizeError(file, text.length);
  const bare = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const syntax = syntaxOf(file, bare);
  const parse = { json: parseJson, toml: parseToml, yaml: parseYaml }[syntax];
  const parsed = parse(file, bare);
  if (isTooDeep(parsed.value)) throw depthError(file);
  return { file, syntax, isEmpty: bare === '', ...parsed };
}

function syntaxOf(file: string, text: string): Syntax {
  if (/\.toml$/i.test(file)) return 'toml';
  if (/\.ya?ml$/i.test(file)) return 'yaml';
  if (/\.(?:json[c5]?|code-workspace)$/i.test(file)) return 'json';
  const line = firstLine(text);
  if (/^\[{1,2}[\w"'. -]+\]{1,2}\s*(?:#.*)?$/.test(line) || /^[\w"'.-]+\s*=/.test(line)) return 'toml';
  return /^(?:---|[\w"'-][\w"' .-]*:(?:\s|$))/.test(line) ? 'yaml' : 'json';
}

/** The first line that is neither blank nor a comment of TOML and YAML. */
function firstLine(text: string): string {
  return /^[ \t]*([^\s#].*)$/m.exec(text.slice(0, 65_536))?.[1]?.trimEnd() ?? '';
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    // Opening a pipe nobody writes to would wait for ever.
    const handle = await open(file, constants.O_RDONLY | (process.platform === 'win32' ? 0 : constants.O_NONBLOCK));
    try {
      const stats = await handle.stat();
      if (!stats.isFile())
        throw new HoldfastError(
          'config_invalid',
          `Expected "${file}" to be a file, got ${stats.isDirectory() ? 'a directory' : 'a device or a pipe'}. Name a configuration file.`,
        );
      if (stats.size > maxConfigBytes) throw sizeError(file, stats.size);
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

function sizeError(file: string, size: number): HoldfastError {
  return new HoldfastError(
    'config_invalid',
    `Expected "${file}" to have at most ${maxConfigBytes} bytes, got ${size}. Split it, or name another file.`,
  );
}

function decode(file: string, bytes: Uint8Array): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw syntaxError(file, start, 'expected UTF-8, got UTF-16');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder('utf-8').decode(bytes);
    throw syntaxError(file, positionAt(text, Math.max(0, text.indexOf('\uFFFD'))), 'expected UTF-8, got other bytes');
  }
}
