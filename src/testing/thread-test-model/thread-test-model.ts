/**
 * Test paths for a host of threads, generated from a model of what happens to it (SPEC TK-2).
 *
 * - M1 A path is covered as far as it was walked: a step whose handler or assertion threw covers nothing.
 * - M2 Paths depend on the model and their options alone: the same seed gives the same walks.
 */
import { HoldfastError } from '../../domain/errors.ts';
import { nameOf, nameOfMove, threadTestGraph } from './graph.ts';
import type { ThreadTestGraph } from './graph.ts';
import type {
  RandomWalkOptions,
  SimplePathOptions,
  ThreadTestCoverage,
  ThreadTestHost,
  ThreadTestModel,
  ThreadTestModelOptions,
  ThreadTestPath,
  ThreadTestState,
  ThreadTestStateKey,
  ThreadTestStep,
} from './types.ts';

/**
 * Makes a model of a host's conversation: what a user, a person, a server and an operator do to it.
 *
 * ```ts
 * const model = createThreadTestModel();
 * test.each(model.shortestPaths())('$description', async (path) => {
 *   await using host = await startMyHost();
 *   await path.test({
 *     events: { 'user.beginsStep': () => host.prompt('hello'), 'person.accepts': () => host.answer({ name: 'Ada' }), … },
 *     states: { asking: () => expect(host.thread.snapshot().elicitations).toHaveLength(1) },
 *   });
 * });
 * test('the paths cover the model', () => model.assertCovered());
 * ```
 *
 * Each path wants a host of its own.
 */
export function createThreadTestModel(options: ThreadTestModelOptions = {}): ThreadTestModel {
  return new Model(threadTestGraph(options.era ?? 'legacy', options.without ?? []));
}

const defaultMaxLength = 6;
/** How often a step of a random walk may also be the close of the thread: else most walks would be short. */
const closingShare = 0.1;

class Model implements ThreadTestModel {
  readonly #graph: ThreadTestGraph;
  readonly #covered = new Set<string>();

  constructor(graph: ThreadTestGraph) {
    this.#graph = graph;
  }

  shortestPaths(): readonly ThreadTestPath[] {
    return this.#paths(this.#graph.shortest);
  }

  simplePaths(options: SimplePathOptions = {}): readonly ThreadTestPath[] {
    const maxLength = checkCount('maxLength', options.maxLength ?? defaultMaxLength);
    const found: (readonly ThreadTestStep[])[] = [];
    const walk = (at: ThreadTestState, steps: readonly ThreadTestStep[], seen: ReadonlySet<string>): void => {
      const onward = this.#graph.movesFrom(at).filter(({ state }) => !seen.has(nameOf(state)));
      if (onward.length === 0 || steps.length === maxLength) found.push(steps);
      else
        for (const { event, state } of onward)
          walk(state, [...steps, { event, state }], new Set([...seen, nameOf(state)]));
    };
    walk(this.#graph.start, [], new Set([nameOf(this.#graph.start)]));
    return this.#paths(found);
  }

  randomWalks({ seed, count, length }: RandomWalkOptions): readonly ThreadTestPath[] {
    checkCount('count', count);
    checkCount('length', length);
    const random = randomFrom(seed);
    return this.#paths(Array.from({ length: count }, () => this.#walk(random, length)));
  }

  coverage(): ThreadTestCoverage {
    return {
      states: this.#count(this.#graph.states),
      transitions: this.#count(this.#graph.moves.map(({ from, event }) => nameOfMove(from, event))),
    };
  }

  assertCovered(): void {
    const { states, transitions } = this.coverage();
    const missing = [...states.missing, ...transitions.missing];
    if (missing.length === 0) return;
    throw new HoldfastError(
      'invalid_argument',
      `Expected the tested paths to come to every state and transition of the model, got ${String(missing.length)} that none came to. Test more paths, or leave events out with \`without\`:\n${missing.map((name) => `- ${name}`).join('\n')}`,
    );
  }

  #walk(random: () => number, length: number): readonly ThreadTestStep[] {
    const steps: ThreadTestStep[] = [];
    let at = this.#graph.start;
    while (steps.length < length) {
      const moves = this.#graph.movesFrom(at);
      const onward = moves.filter(({ event }) => event !== 'user.closesThread');
      const choices = random() < closingShare ? moves : onward;
      const move = choices[Math.floor(random() * choices.length)];
      if (move === undefined) break;
      steps.push({ event: move.event, state: move.state });
      at = move.state;
    }
    return steps;
  }

  #paths(all: readonly (readonly ThreadTestStep[])[]): readonly ThreadTestPath[] {
    return all.map((steps) => ({ description: describe(steps), steps, test: (host) => this.#test(steps, host) }));
  }

  async #test(steps: readonly ThreadTestStep[], host: ThreadTestHost): Promise<void> {
    let at = this.#graph.start;
    await check(at, host);
    this.#covered.add(nameOf(at));
    for (const step of steps) {
      const handler = host.events[step.event];
      if (handler === undefined)
        throw new HoldfastError(
          'invalid_argument',
          `Expected a handler for the event "${step.event}", got none. Add it to \`events\`, or leave the event out with \`without\`.`,
        );
      await handler(step);
      await check(step.state, host);
      this.#covered.add(nameOf(step.state)).add(nameOfMove(at, step.event));
      at = step.state;
    }
  }

  #count(names: readonly string[]): ThreadTestCoverage['states'] {
    const missing = names.filter((name) => !this.#covered.has(name));
    return { total: names.length, covered: names.length - missing.length, missing };
  }
}

async function check(state: ThreadTestState, { states = {} }: ThreadTestHost): Promise<void> {
  const keys: readonly ThreadTestStateKey[] = [
    state.conversation,
    `runtime.${state.runtime}`,
    `server.${state.server}`,
    '*',
  ];
  for (const key of keys) await states[key]?.(state);
}

function describe(steps: readonly ThreadTestStep[]): string {
  const last = steps.at(-1);
  if (last === undefined) return 'reaches (starting, current, up)';
  return `reaches (${nameOf(last.state)}): ${steps.map(({ event }) => event).join(' → ')}`;
}

function checkCount(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new HoldfastError(
    'invalid_argument',
    `Expected "${name}" to be a whole number from 1 up, got ${String(value)}.`,
  );
}

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
