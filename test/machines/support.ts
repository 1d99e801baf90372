/** What the tests of machines share: slots filled by a log, actors under a parent that listens, and plain inputs. */
import { createActor } from 'xstate';
import type {
  Actor,
  ActorLogic,
  AnyActorRef,
  AnyEventObject,
  AnyStateMachine,
  InspectionEvent,
  Snapshot,
} from 'xstate';
import { deadlineLogic } from '../../src/actors/deadline.ts';
import type { Failure } from '../../src/domain/errors.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Asker, Question } from '../../src/domain/question.ts';
import { notProvided } from '../../src/machines/not-provided.ts';
import type { CallInput } from '../../src/machines/index.ts';
import { deferred, SimulatedClock } from '../../src/testing/index.ts';
import type { Deferred } from '../../src/testing/index.ts';

/** One run of a slot. */
export interface SlotRun {
  readonly slot: string;
  readonly params?: unknown;
  /** The context the slot was given, as JSON. */
  readonly context: string;
}

/** What slots did, in order. */
export class SlotLog {
  readonly runs: SlotRun[] = [];

  /** The names of the slots that ran, oldest first. */
  get names(): readonly string[] {
    return this.runs.map(({ slot }) => slot);
  }

  /** What a slot was given, each time. */
  paramsOf(slot: string): readonly unknown[] {
    return this.runs.filter((run) => run.slot === slot).map(({ params }) => params);
  }

  clear(): void {
    this.runs.length = 0;
  }
}

type Slot = (args: { context: unknown; self: { send(event: AnyEventObject): void } }, params: unknown) => void;

/** The machine with every empty action slot writing to `log`, after `also` has run if it names the slot. */
export function logged<TMachine extends AnyStateMachine>(
  machine: TMachine,
  log: SlotLog,
  also: Readonly<Record<string, Slot>> = {},
): TMachine {
  const slots = Object.entries(machine.implementations.actions).filter(([, action]) => action === notProvided);
  const actions = Object.fromEntries(
    slots.map(([slot]): [string, Slot] => [
      slot,
      (args, params) => {
        also[slot]?.(args, params);
        log.runs.push({
          slot,
          ...(params === undefined ? {} : { params }),
          context: JSON.stringify(args.context),
        });
      },
    ]),
  );
  return machine.provide({ actions: actions as never }) as TMachine;
}

/** The machine with actors by slot. */
export function withActors<TMachine extends AnyStateMachine>(
  machine: TMachine,
  actors: Readonly<Record<string, unknown>>,
): TMachine {
  return machine.provide({ actors: actors as never }) as TMachine;
}

export interface StartOptions {
  readonly input?: unknown;
  readonly id?: string;
  readonly systemId?: string;
  readonly clock?: SimulatedClock;
  /** A persisted snapshot to go on from. */
  readonly snapshot?: unknown;
  readonly inspect?: (event: InspectionEvent) => void;
}

/** An actor with a parent that only listens. */
export interface Child<TMachine extends AnyStateMachine> {
  readonly actor: Actor<TMachine>;
  readonly clock: SimulatedClock;
  /** What the parent was sent, oldest first. */
  readonly heard: readonly AnyEventObject[];
  readonly stop: () => void;
}

/** Starts a machine as the child of an actor that writes down what it hears. */
export function startChild<TMachine extends AnyStateMachine>(
  machine: TMachine,
  options: StartOptions = {},
): Child<TMachine> {
  const clock = options.clock ?? new SimulatedClock();
  const heard: AnyEventObject[] = [];
  const parent = createActor(listener(heard), {
    clock,
    ...(options.inspect === undefined ? {} : { inspect: options.inspect }),
  }).start();
  const actor = createActor<AnyStateMachine>(machine, {
    parent,
    id: options.id ?? machine.id,
    ...('input' in options ? { input: options.input } : {}),
    ...(options.systemId === undefined ? {} : { systemId: options.systemId }),
    ...(options.snapshot === undefined ? {} : { snapshot: options.snapshot as Snapshot<unknown> }),
  }) as Actor<TMachine>;
  actor.start();
  return {
    actor,
    clock,
    heard,
    stop: () => {
      parent.send({ type: 'listener.stop', child: actor });
      parent.stop();
    },
  };
}

/** The logic of an actor that writes down what it hears, and stops a child when it is told to. */
function listener(heard: AnyEventObject[]): ActorLogic<Snapshot<undefined>, AnyEventObject> {
  const snapshot = { status: 'active', output: undefined, error: undefined } as const;
  return {
    transition: (state, event, { stopChild }) => {
      if (event.type === 'listener.stop') stopChild(event['child'] as AnyActorRef);
      else if (event.type !== 'xstate.stop') heard.push(event);
      return state;
    },
    getInitialSnapshot: () => snapshot,
    getPersistedSnapshot: () => snapshot,
  };
}

/** What is left of a value after it was saved and read again. */
export function throughJson<TValue>(value: TValue): TValue {
  return JSON.parse(JSON.stringify(value)) as TValue;
}

/** The `deadline` actor on a simulated clock. */
export function deadlineOn(clock: SimulatedClock): ReturnType<typeof deadlineLogic> {
  return deadlineLogic(() => clock);
}

/** A promise slot that the test settles, run by run. */
export class HeldSlot<TOutput> {
  readonly runs: { readonly input: unknown; readonly signal: AbortSignal; readonly result: Deferred<TOutput> }[] = [];

  readonly start = ({ input, signal }: { input: unknown; signal: AbortSignal }): Promise<TOutput> => {
    const result = deferred<TOutput>();
    this.runs.push({ input, signal, result });
    return result.promise;
  };

  get last(): Deferred<TOutput> {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error('Expected the slot to run, and it did not.');
    return run.result;
  }
}

/** Lets what promises cause happen. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export const start = Date.UTC(2026, 0, 1);

export function failure(code: Failure['code'], retryable = false): Failure {
  return { code, message: `It was ${code}.`, retryable };
}

/** A form that wants a name. */
export function question(token: string, asker: Asker = { kind: 'round', key: token }, more: JsonObject = {}): Question {
  return {
    elicitation: {
      token,
      kind: 'form',
      server: 'docs',
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      attribution: 'call',
      generation: 1,
      openedAt: new Date(start).toISOString(),
      ...more,
    },
    asker,
  };
}

export const ada = { action: 'accept', content: { name: 'Ada' } } as const;

export function callInput(more: Partial<CallInput> = {}): CallInput {
  return {
    call: 'call-1',
    step: 'step-1',
    name: 'mcp__docs__search',
    server: 'docs',
    tool: 'search',
    generation: 1,
    method: 'tools/call',
    params: { name: 'search' },
    timeLimitMs: 1_000,
    admitted: true,
    at: start,
    ...more,
  };
}
