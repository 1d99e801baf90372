/** A real thread whose facts are kept and can be waited for, and whose actors can be observed. */
/* oxlint-disable vitest/no-standalone-expect -- these are the assertions of paths, and run inside their tests */
import type { InspectionEvent } from 'xstate';
import { expect } from 'vitest';
import { HoldfastError } from '../../src/index.ts';
import type { Thread, ThreadEvent, ThreadOptions, ThreadSnapshot, ToolResult } from '../../src/index.ts';
import { openLink } from '../../src/mcp/open-link.ts';
import { openThread } from '../../src/thread.ts';

export type FactOf<TType extends ThreadEvent['type'], TFact = ThreadEvent> = TFact extends ThreadEvent
  ? TType extends TFact['type']
    ? TFact
    : never
  : never;

export type Observe = (event: InspectionEvent) => void;

export class WatchedThread {
  readonly thread: Thread;
  readonly facts: ThreadEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(options: ThreadOptions, observe?: Observe) {
    this.thread = openThread(options, {
      openLink,
      verdicts: { get: () => undefined, set: () => undefined },
      ...(observe === undefined ? {} : { observe }),
    });
    this.thread.events$.subscribe((fact) => {
      this.facts.push(fact);
      for (const look of this.#waiting) look();
    });
  }

  of<TType extends ThreadEvent['type']>(type: TType): readonly FactOf<TType>[] {
    return this.facts.filter((fact): fact is FactOf<TType> => fact.type === type);
  }

  /** Resolves with the first fact of a type that matches, past or future, leaving out the first `from` facts of all. */
  until<TType extends ThreadEvent['type']>(
    type: TType,
    matches: (fact: FactOf<TType>) => boolean = () => true,
    from = 0,
  ): Promise<FactOf<TType>> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.facts
          .slice(from)
          .find((fact): fact is FactOf<TType> => fact.type === type && matches(fact as FactOf<TType>));
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Closes the thread, and checks what has to hold of every thread that was closed. */
  async end(): Promise<void> {
    await this.thread.close();
    const opened = this.of('elicitation.opened').map(({ elicitation }) => elicitation.token);
    const settled = this.of('elicitation.settled').map(({ token }) => token);
    // H5: every question ends exactly once.
    expect(settled.toSorted()).toEqual(opened.toSorted());
    expect(new Set(opened).size).toBe(opened.length);
    const snapshot = this.thread.snapshot();
    expect(snapshot).toMatchObject({ state: 'closed', runtimes: [], steps: [], elicitations: [] });
    expect(this.of('thread.closed')).toHaveLength(1);
  }
}

/** What holds in every state of every thread. */
export function expectSound(snapshot: ThreadSnapshot): void {
  // H9
  expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
  // H2, T1: at most one runtime is current, and it is the one the thread names.
  const current = snapshot.runtimes.filter(({ state }) => state === 'current').map(({ generation }) => generation);
  expect(current).toEqual(snapshot.state === 'active' ? [snapshot.generation] : current);
  expect(current.length).toBeLessThanOrEqual(1);
  // H1, H3: what a step is pinned to is there, and knows that it is held; what is retired is held.
  for (const { id, generation } of snapshot.steps) {
    const pinned = snapshot.runtimes.find((runtime) => runtime.generation === generation);
    expect(pinned?.holders).toContainEqual({ kind: 'step', id });
  }
  for (const { state, holders } of snapshot.runtimes) if (state === 'retired') expect(holders).not.toEqual([]);
  // A question of one call is asked by a call that is there, and waits for it.
  for (const { attribution, call } of snapshot.elicitations) {
    if (attribution !== 'call') continue;
    const states = snapshot.steps
      .flatMap(({ calls }) => calls.filter(({ id }) => id === call))
      .map(({ state }) => state);
    if (states.length > 0) expect(['paused', 'awaitingApproval']).toContain(states[0]);
  }
}

/** The error a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<HoldfastError> {
  const settled = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in settled && settled.error instanceof HoldfastError) return settled.error;
  return expect.fail(`Expected a HoldfastError, got ${JSON.stringify(settled)}.`);
}

/** The text of a result. */
export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? String(block['text']) : '')).join('');
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
