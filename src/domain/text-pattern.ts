/**
 * Matches a text against a pattern a peer sent, in bounded time.
 *
 * A backtracking engine can take forever on a hostile pattern, so this one walks all alternatives at once: its work grows
 * with pattern × text and stops at a fixed budget. Single characters and classes are left to the built-in engine.
 */

type Test = (unit: string) => boolean;

type Instruction =
  | { readonly op: 'unit'; readonly test: Test }
  | { readonly op: 'split'; readonly to: readonly [number, number] }
  | { readonly op: 'jump'; readonly to: number }
  | { readonly op: 'assert'; readonly holds: (units: readonly string[], at: number) => boolean }
  | { readonly op: 'look'; readonly program: readonly Instruction[]; readonly negate: boolean }
  | { readonly op: 'match' };

type Node =
  | { readonly kind: 'leaf'; readonly instruction: Instruction }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'either'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly min: number; readonly max: number }
  | { readonly kind: 'look'; readonly node: Node; readonly negate: boolean };

interface Reader {
  readonly source: string;
  readonly unicode: boolean;
  at: number;
}

interface Budget {
  left: number;
}

const maxPatternLength = 512;
const maxTextLength = 10_000;
const maxInstructions = 4_000;
const maxWork = 4_000_000;

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
  const program = compile(node);
  if (program === undefined) return undefined;
  return run(program, unicode ? Array.from(text) : text.split(''), 0, true, { left: maxWork });
}

function isValid(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags).source !== '';
  } catch {
    return false;
  }
}

function readEither(reader: Reader): Node | undefined {
  const parts: Node[] = [];
  for (;;) {
    const part = readAll(reader);
    if (part === undefined) return undefined;
    parts.push(part);
    if (reader.source[reader.at] !== '|') return { kind: 'either', parts };
    reader.at += 1;
  }
}

function readAll(reader: Reader): Node | undefined {
  const parts: Node[] = [];
  for (;;) {
    const next = reader.source[reader.at];
    if (next === undefined || next === '|' || next === ')') return { kind: 'all', parts };
    const atom = readAtom(reader);
    if (atom === undefined) return undefined;
    parts.push(readRepeat(reader, atom));
  }
}

function readRepeat(reader: Reader, node: Node): Node {
  const found = take(reader, /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y);
  if (found === undefined) return node;
  const [, sign, low, comma, high] = found;
  if (sign !== undefined) return { kind: 'repeat', node, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
  const min = Number(low);
  if (comma === undefined) return { kind: 'repeat', node, min, max: min };
  return { kind: 'repeat', node, min, max: high === '' ? Infinity : Number(high) };
}

function readAtom(reader: Reader): Node | undefined {
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

function readGroup(reader: Reader): Node | undefined {
  const open = take(reader, /\((?:\?(?:[:=!]|<[^=!>][^>]*>))?/y)?.[0];
  if (open === undefined || (open === '(' && reader.source[reader.at] === '?')) return undefined;
  const node = readEither(reader);
  if (node === undefined) return undefined;
  reader.at += 1;
  if (open === '(?=' || open === '(?!') return { kind: 'look', node, negate: open === '(?!' };
  return node;
}

function readEscape(reader: Reader): Node | undefined {
  const edge = take(reader, /\\([bB])/y)?.[1];
  if (edge !== undefined) return leaf({ op: 'assert', holds: (units, at) => isEdge(units, at) === (edge === 'b') });
  const unicodeEscape =
    /\\(?:u\{[0-9a-f]+\}|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|u[0-9a-f]{4}|x[0-9a-f]{2}|p\{[^}]*\}|c[a-z]|0|[^1-9kpuxc])/iuy;
  return readUnit(reader, reader.unicode ? unicodeEscape : /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|0(?!\d)|[^0-9kuxc])/iy);
}

/** Reads an atom that takes one character, and lets the built-in engine test single characters against it. */
function readUnit(reader: Reader, shape: RegExp): Node | undefined {
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

function leaf(instruction: Instruction): Node {
  return { kind: 'leaf', instruction };
}

function isEdge(units: readonly string[], at: number): boolean {
  return isWordUnit(units[at - 1]) !== isWordUnit(units[at]);
}

function isWordUnit(unit: string | undefined): boolean {
  return unit !== undefined && /^\w$/.test(unit);
}

function compile(node: Node): readonly Instruction[] | undefined {
  const program: Instruction[] = [];
  if (!emit(node, program)) return undefined;
  program.push({ op: 'match' });
  return program;
}

/** Appends a node's instructions. False when the program gets too long or a part cannot be compiled. */
function emit(node: Node, program: Instruction[]): boolean {
  if (program.length > maxInstructions) return false;
  switch (node.kind) {
    case 'leaf':
      program.push(node.instruction);
      return true;
    case 'all':
      return node.parts.every((part) => emit(part, program));
    case 'either':
      return emitEither(node.parts, program);
    case 'repeat':
      return emitRepeat(node.node, node.min, node.max, program);
    case 'look': {
      const inner = compile(node.node);
      if (inner === undefined) return false;
      program.push({ op: 'look', program: inner, negate: node.negate });
      return true;
    }
  }
}

function emitEither(parts: readonly Node[], program: Instruction[]): boolean {
  const exits: number[] = [];
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const split = program.length;
    if (!isLast) program.push({ op: 'match' });
    if (!emit(part, program)) return false;
    if (isLast) break;
    exits.push(program.length);
    program.push({ op: 'match' });
    program[split] = { op: 'split', to: [split + 1, program.length] };
  }
  for (const exit of exits) program[exit] = { op: 'jump', to: program.length };
  return true;
}

function emitRepeat(node: Node, min: number, max: number, program: Instruction[]): boolean {
  if (min > maxInstructions || (max !== Infinity && max > maxInstructions)) return false;
  for (let count = 0; count < min; count += 1) if (!emit(node, program)) return false;
  if (max === Infinity) {
    const split = program.length;
    program.push({ op: 'match' });
    if (!emit(node, program)) return false;
    program.push({ op: 'jump', to: split });
    program[split] = { op: 'split', to: [split + 1, program.length] };
    return true;
  }
  const splits: number[] = [];
  for (let count = min; count < max; count += 1) {
    splits.push(program.length);
    program.push({ op: 'match' });
    if (!emit(node, program)) return false;
  }
  for (const split of splits) program[split] = { op: 'split', to: [split + 1, program.length] };
  return true;
}

/** Follows every way through the program at once. `undefined`: the budget ran out. */
function run(program: readonly Instruction[], units: readonly string[], from: number, anywhere: boolean, budget: Budget): boolean | undefined {
  let waiting: number[] = [];
  for (let at = from; at <= units.length; at += 1) {
    const reached = follow(program, anywhere || at === from ? [...waiting, 0] : waiting, units, at, budget);
    if (typeof reached === 'boolean' || reached === undefined) return reached;
    const unit = units[at];
    if (unit === undefined || (reached.length === 0 && !anywhere)) return false;
    waiting = [];
    for (const index of reached) {
      const instruction = program[index];
      if (instruction?.op === 'unit' && instruction.test(unit)) waiting.push(index + 1);
    }
  }
  return false;
}

/** The `unit` instructions reachable without taking a character, or true when a match is. */
function follow(
  program: readonly Instruction[],
  starts: readonly number[],
  units: readonly string[],
  at: number,
  budget: Budget,
): readonly number[] | true | undefined {
  const stack = [...starts];
  const seen = new Set<number>();
  const reached: number[] = [];
  for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
    const instruction = program[index];
    if (instruction === undefined || seen.has(index)) continue;
    seen.add(index);
    budget.left -= 1;
    if (budget.left < 0) return undefined;
    switch (instruction.op) {
      case 'match':
        return true;
      case 'unit':
        reached.push(index);
        break;
      case 'jump':
        stack.push(instruction.to);
        break;
      case 'split':
        stack.push(...instruction.to);
        break;
      case 'assert':
        if (instruction.holds(units, at)) stack.push(index + 1);
        break;
      case 'look': {
        const found = run(instruction.program, units, at, false, budget);
        if (found === undefined) return undefined;
        if (found !== instruction.negate) stack.push(index + 1);
        break;
      }
    }
  }
  return reached;
}
