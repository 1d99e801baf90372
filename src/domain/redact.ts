/**
 * Takes secrets out of what Holdfast shows (SPEC SE-1).
 *
 * Owns the set of known secrets of one host or thread. Invariant R1: no text that went through `text` or `value` holds a
 * known secret, as it is, percent-encoded, or escaped in JSON; not even part of one that overlaps another.
 */
import { secretsOf } from './secrets.ts';

export { secretsOf };

/** What stands where a secret was. */
export const redacted = '[redacted]';

const minSecretLength = 8;
const maxDepth = 512;

export interface Redactor {
  /** Remembers a secret from now on. Texts shorter than 8 characters are ignored: they would match everywhere. */
  add(secret: string): void;
  /** The text without secrets; the same text when it held none. */
  text(text: string): string;
  /**
   * The value without secrets, in keys too: a copy of what changed, the same reference when nothing did.
   *
   * For JSON values. Of other objects only own enumerable properties are looked at. What is nested deeper than 512 levels
   * becomes `[redacted]`, and an object inside itself `[circular]`.
   */
  value<TValue>(value: TValue): TValue;
}

/** Makes a redactor that knows no secret. It costs next to nothing until one is added. */
export function createRedactor(): Redactor {
  const forms = new Set<string>();
  let pattern: RegExp | undefined;

  function add(secret: string): void {
    if (secret.length < minSecretLength) return;
    const before = forms.size;
    forms.add(secret);
    forms.add(JSON.stringify(secret).slice(1, -1));
    for (const form of encodedForms(secret)) forms.add(form);
    if (forms.size > before) pattern = undefined;
  }

  function text(input: string): string {
    if (forms.size === 0 || input.length < minSecretLength) return input;
    pattern ??= patternOf(forms);
    return replaceAll(input, pattern);
  }

  function value<TValue>(input: TValue): TValue;
  function value(input: unknown): unknown {
    return forms.size === 0 ? input : redactValue(input, text, { seen: new Map(), depth: 0 });
  }

  return { add, text, value };
}

function encodedForms(secret: string): readonly string[] {
  try {
    const encoded = encodeURIComponent(secret);
    return [encoded, encoded.replaceAll('%20', '+'), encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())];
  } catch {
    return [];
  }
}

/** Longest first, so that a secret that begins with another is taken whole. */
function patternOf(forms: ReadonlySet<string>): RegExp {
  const escaped = [...forms]
    .toSorted((a, b) => b.length - a.length)
    .map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
  return new RegExp(escaped.join('|'), 'g');
}

/** Finds every match, overlapping ones too, and writes one mark for each stretch they cover. */
function replaceAll(input: string, pattern: RegExp): string {
  pattern.lastIndex = 0;
  let output = '';
  let copied = 0;
  let coveredTo = 0;
  for (let found = pattern.exec(input); found !== null; found = pattern.exec(input)) {
    const end = found.index + found[0].length;
    if (found.index >= coveredTo) {
      output += input.slice(copied, found.index) + redacted;
      coveredTo = end;
    }
    coveredTo = Math.max(coveredTo, end);
    copied = coveredTo;
    pattern.lastIndex = found.index + 1;
  }
  return copied === 0 ? input : output + input.slice(copied);
}

interface Walk {
  /** What each object became; `undefined` while it is being walked. */
  readonly seen: Map<object, unknown>;
  depth: number;
}

function redactValue(input: unknown, text: (input: string) => string, walk: Walk): unknown {
  if (typeof input === 'string') return text(input);
  if (typeof input !== 'object' || input === null) return input;
  if (walk.seen.has(input)) return walk.seen.get(input);
  if (walk.depth >= maxDepth) return redacted;
  walk.seen.set(input, '[circular]');
  walk.depth += 1;
  const output = Array.isArray(input) ? redactArray(input, text, walk) : redactObject(input, text, walk);
  walk.depth -= 1;
  walk.seen.set(input, output);
  return output;
}

function redactArray(input: readonly unknown[], text: (input: string) => string, walk: Walk): readonly unknown[] {
  let output: unknown[] | undefined;
  for (const [index, item] of input.entries()) {
    const next = redactValue(item, text, walk);
    if (next !== item) (output ??= [...input])[index] = next;
  }
  return output ?? input;
}

function redactObject(input: object, text: (input: string) => string, walk: Walk): object {
  const before: readonly [string, unknown][] = Object.entries(input);
  let after: [string, unknown][] | undefined;
  for (const [index, [key, item]] of before.entries()) {
    const next = redactValue(item, text, walk);
    const name = text(key);
    if (name !== key || next !== item) after ??= before.slice(0, index);
    after?.push([name, next]);
  }
  return after === undefined ? input : Object.fromEntries(after);
}
