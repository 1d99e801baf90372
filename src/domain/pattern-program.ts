/** Compiles a pattern that was read, and follows every way through it at once, within a budget. */

type Test = (unit: string) => boolean;

/** One instruction of a compiled pattern. */
export type Instruction =
  | { readonly op: 'unit'; readonly test: Test }
  | { readonly op: 'split'; readonly to: readonly [number, number] }
  | { readonly op: 'jump'; readonly to: number }
  | { readonly op: 'assert'; readonly holds: (units: readonly string[], at: number) => boolean }
  | { readonly op: 'look'; readonly program: readonly Instruction[]; readonly negate: boolean }
  | { readonly op: 'match' };

/** A pattern as read. */
export type PatternNode =
  | { readonly kind: 'leaf'; readonly instruction: Instruction }
  | { readonly kind: 'all'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'either'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly node: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: 'look'; readonly node: PatternNode; readonly negate: boolean };

interface Budget {
  left: number;
}

const maxInstructions = 4_000;
const maxWork = 1_000_000;

/** Tells whether the units hold a match anywhere. `undefined`: the program is too long, or its budget ran out. */
export function matchesNode(node: PatternNode, units: readonly string[]): boolean | undefined {
  const program = compile(node, { left: maxInstructions });
  return program === undefined ? undefined : run(program, units, 0, true, { left: maxWork });
}

/** A program being written. The budget is one for the whole pattern, and pays for parts that write nothing, too. */
interface Writer {
  readonly program: Instruction[];
  readonly budget: Budget;
}

function compile(node: PatternNode, budget: Budget): readonly Instruction[] | undefined {
  const program: Instruction[] = [];
  if (!emit(node, { program, budget })) return undefined;
  program.push({ op: 'match' });
  return program;
}

/** Appends a node's instructions. False when the budget runs out. */
function emit(node: PatternNode, writer: Writer): boolean {
  writer.budget.left -= 1;
  if (writer.budget.left < 0) return false;
  switch (node.kind) {
    case 'leaf':
      writer.program.push(node.instruction);
      return true;
    case 'all':
      return node.parts.every((part) => emit(part, writer));
    case 'either':
      return emitEither(node.parts, writer);
    case 'repeat':
      return node.max === Infinity
        ? emitLoop(node.node, node.min, writer)
        : emitCopies(node.node, node.min, node.max, writer);
    case 'look': {
      const program = compile(node.node, writer.budget);
      if (program === undefined) return false;
      writer.program.push({ op: 'look', program, negate: node.negate });
      return true;
    }
  }
}

function emitEither(parts: readonly PatternNode[], writer: Writer): boolean {
  const { program } = writer;
  const exits: number[] = [];
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const split = isLast ? undefined : reserve(program);
    if (!emit(part, writer)) return false;
    if (split === undefined) break;
    exits.push(reserve(program));
    program[split] = { op: 'split', to: [split + 1, program.length] };
  }
  for (const exit of exits) program[exit] = { op: 'jump', to: program.length };
  return true;
}

function emitLoop(node: PatternNode, min: number, writer: Writer): boolean {
  if (!emitCopies(node, min, min, writer)) return false;
  const { program } = writer;
  const split = reserve(program);
  if (!emit(node, writer)) return false;
  program.push({ op: 'jump', to: split });
  program[split] = { op: 'split', to: [split + 1, program.length] };
  return true;
}

function emitCopies(node: PatternNode, min: number, max: number, writer: Writer): boolean {
  const { program } = writer;
  const splits: number[] = [];
  for (let count = 0; count < max; count += 1) {
    if (count >= min) splits.push(reserve(program));
    if (!emit(node, writer)) return false;
  }
  for (const split of splits) program[split] = { op: 'split', to: [split + 1, program.length] };
  return true;
}

/** Keeps a place for a jump whose target is not known yet. */
function reserve(program: Instruction[]): number {
  program.push({ op: 'match' });
  return program.length - 1;
}

/** Follows every way through the program at once. `undefined`: the budget ran out. */
function run(
  program: readonly Instruction[],
  units: readonly string[],
  from: number,
  anywhere: boolean,
  budget: Budget,
): boolean | undefined {
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
