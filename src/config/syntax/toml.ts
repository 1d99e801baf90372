/** TOML, for Codex. */
import { parse, TomlError } from 'smol-toml';
import { isRecord } from '../../domain/json.ts';
import { depthError, type ParsedText, syntaxError } from '../position.ts';
import { locateInToml } from './toml-places.ts';

/**
 * Parses TOML. A key that comes twice is an error of the document here, as TOML has it.
 *
 * @throws HoldfastError `config_syntax`
 */
export function parseToml(file: string, text: string): ParsedText {
  try {
    return { value: plainOf(parse(text)), duplicates: [], locate: (path) => locateInToml(text, path) };
  } catch (error) {
    if (error instanceof RangeError) throw depthError(file);
    if (!(error instanceof TomlError)) throw error;
    // The first line of the message is the reason; the rest quotes the file.
    const [reason = 'invalid TOML'] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    throw syntaxError(file, error, `expected TOML, got this: ${reason}`);
  }
}

/** Dates become text, so that everything that is kept is JSON. */
function plainOf(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainOf);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainOf(inner)]))
    : value;
}
