/**
 * Takes secrets out of what Holdfast shows (SPEC SE-1).
 *
 * Owns the set of known secrets of one host or thread. Invariant R1: no text that went through `text` or `value` holds a
 * known secret, as it is, percent-encoded, or escaped in JSON; not even part of one that overlaps another, or 8 characters and
 * more of one that was cut: that end at `…`, or follow one a text begins with. Nor the user info of a url. R2: a name that was given to `keep` stays whole where it stands as one, whatever secret it equals or holds: it
 * must be given back.
 */
import { secretsOf } from './secrets.ts';
import { withoutUserInfo } from './user-info.ts';

export { secretsOf };

/** What stands where a secret was. */
export const redacted = '[redacted]';

const minSecretLength = 8;
const maxDepth = 512;

export interface Redactor {
  /** Remembers a secret from now on. Texts shorter than 8 characters are ignored: they would match everywhere. */
  add(secret: string): void;
  /**
   * Leaves a name as it is from now on where it is an identifier: a whole text or key, in double quotes, and in the names of
   * tools and ids of skills that hold that of a server. Elsewhere in a text it is redacted as before.
   */
  keep(name: string): void;
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

/** Makes a redactor that knows no secret: it takes out the user info of urls only. */
export function createRedactor(): Redactor {
  const index: FormIndex = { byStart: new Map(), filter: new Uint8Array(0) };

  const names = new Set<string>();
  /** The names that hold a secret, usually none; `undefined` until they are looked for. */
  let guarded: readonly string[] | undefined = [];

  function add(secret: string): void {
    if (secret.length < minSecretLength) return;
    for (const form of formsOf(secret)) addForm(index, form);
    guarded = undefined;
  }

  function keep(name: string): void {
    if (name.length < minSecretLength || names.has(name)) return;
    names.add(name);
    guarded = undefined;
  }

  function text(input: string): string {
    if (index.byStart.size === 0 || input.length < minSecretLength) return withoutUserInfo(input);
    guarded ??= [...names].filter((name) => replaceForms(name, index, []) !== name);
    return withoutUserInfo(replaceForms(input, index, guarded));
  }

  function value<TValue>(input: TValue): TValue;
  function value(input: unknown): unknown {
    return redactValue(input, text, { seen: new Map(), depth: 0 });
  }

  return { add, keep, text, value };
}

/** The forms of all secrets. A scan costs the same with ten of them and with ten thousand. */
interface FormIndex {
  /** First 8 characters → the forms that begin so, longest first. */
  readonly byStart: Map<string, readonly string[]>;
  /**
   * Marks the hash of the first 4 characters of every form: nearly every place of a text is passed over by it. Empty until the
   * first secret: it is as large as all the rest of an idle thread.
   */
  filter: Uint8Array;
}

const hashedLength = 4;

/** The hash of the last 4 characters, from that of the 4 before: older ones are shifted out of the 16 bits. */
function nextHash(hash: number, code: number): number {
  return ((hash << 4) ^ code) & 0xffff;
}

function addForm(index: FormIndex, form: string): void {
  const { byStart } = index;
  if (byStart.size === 0) index.filter = new Uint8Array(65_536);
  const start = form.slice(0, minSecretLength);
  const before = byStart.get(start) ?? [];
  if (before.includes(form)) return;
  byStart.set(
    start,
    [...before, form].toSorted((a, b) => b.length - a.length),
  );
  let hash = 0;
  for (let at = 0; at < hashedLength; at += 1) hash = nextHash(hash, form.charCodeAt(at));
  index.filter[hash] = 1;
}

/** The secret as it is, escaped in JSON, and percent-encoded in the ways in use. */
function formsOf(secret: string): readonly string[] {
  const encoded = encode(secret);
  const lowerCase = encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [secret, JSON.stringify(secret).slice(1, -1), encoded, lowerCase, encoded.replaceAll('%20', '+')];
}

function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // An unpaired surrogate has no percent-encoded form.
    return text;
  }
}

/** Finds every form, overlapping ones too, and writes one mark for each stretch they cover. */
function replaceForms(input: string, { byStart, filter }: FormIndex, names: readonly string[]): string {
  let output = '';
  let coveredTo = cutHead(input, byStart);
  if (coveredTo > 0) output = `${cutMark}${redacted}`;
  let hash = 0;
  for (let end = 0; end < input.length; end += 1) {
    hash = nextHash(hash, input.charCodeAt(end));
    const start = end - hashedLength + 1;
    if (filter[hash] !== 1 || start < 0) continue;
    const found = endOf(byStart.get(input.slice(start, start + minSecretLength)) ?? [], input, start);
    if (found === undefined || names.some((name) => isWithin(name, input, start, found))) continue;
    if (start >= coveredTo) output += input.slice(coveredTo, start) + redacted;
    coveredTo = Math.max(coveredTo, found);
  }
  return coveredTo === 0 ? input : output + input.slice(coveredTo);
}

/** Stands where a text was cut. */
const cutMark = '…';

/** Where the longest of the forms ends that begins here, whole or cut; `undefined` for none. */
function endOf(forms: readonly string[], input: string, start: number): number | undefined {
  for (const form of forms) if (input.startsWith(form, start)) return start + form.length;
  for (const form of forms) {
    const length = sharedLength(form, 0, input, start);
    if (input.startsWith(cutMark, start + length)) return start + length;
  }
  return undefined;
}

/** Where the rest of a form ends that a text begins with, after the mark of a cut; 0 for none. */
function cutHead(input: string, byStart: FormIndex['byStart']): number {
  if (!input.startsWith(cutMark)) return 0;
  const head = input.slice(1, 1 + minSecretLength);
  let end = 0;
  if (head.length < minSecretLength) return end;
  for (const form of [...byStart.values()].flat())
    for (let at = form.indexOf(head); at >= 0; at = form.indexOf(head, at + 1)) {
      const length = sharedLength(form, at, input, 1);
      const isCut = at + length === form.length || length + 1 === input.length || input[length + 1] === cutMark;
      if (isCut) end = Math.max(end, length + 1);
    }
  return end;
}

/** How far a form, from a place of it on, and a text from a place of it on are the same. */
function sharedLength(form: string, from: number, input: string, start: number): number {
  let length = 0;
  while (from + length < form.length && form[from + length] === input[start + length]) length += 1;
  return length;
}

/** Tells whether a stretch of a text is in a name that stands there as an identifier. */
function isWithin(name: string, input: string, start: number, end: number): boolean {
  for (let at = Math.max(0, end - name.length); at <= start; at += 1) {
    if (!input.startsWith(name, at)) continue;
    const after = at + name.length;
    if (
      /(?:^|"|\bmcp(?::|__))$/.test(input.slice(Math.max(0, at - 6), at)) &&
      /^(?:$|\\?"|\/|__)/.test(input.slice(after, after + 2))
    )
      return true;
  }
  return false;
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
