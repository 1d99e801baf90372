/** The placeholders of slots: a chart says what happens, `actors/provide.ts` says how. */
import { fromCallback, fromPromise } from 'xstate';
import type { AnyStateMachine, EventObject, NonReducibleUnknown } from 'xstate';

/** An action nobody filled in. */
export function notProvided(): void {
  throw new Error(
    'Expected this action to be provided, got its placeholder. Fill every slot of the machine with provide().',
  );
}

/** A promise actor nobody filled in. */
export function promiseNotProvided<TOutput, TInput extends NonReducibleUnknown>(): ReturnType<
  typeof fromPromise<TOutput, TInput>
> {
  return fromPromise<TOutput, TInput>(() =>
    Promise.reject(
      new Error(
        'Expected this actor to be provided, got its placeholder. Fill every slot of the machine with provide().',
      ),
    ),
  );
}

/** A callback actor nobody filled in. */
export function callbackNotProvided<TEvent extends EventObject, TInput extends NonReducibleUnknown>(): ReturnType<
  typeof fromCallback<TEvent, TInput>
> {
  return fromCallback<TEvent, TInput>(() => {
    throw new Error(
      'Expected this actor to be provided, got its placeholder. Fill every slot of the machine with provide().',
    );
  });
}

/** A child machine nobody filled in. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the slot's type is that of what will fill it
export function machineNotProvided<TMachine extends AnyStateMachine>(): TMachine {
  return callbackNotProvided() as unknown as TMachine;
}

/** Input of the `deadline` actor: it sends `deadline.passed` to its parent at `at`, at once if that is past. */
export interface DeadlineInput {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A deadline has passed. */
export interface DeadlinePassedEvent {
  readonly type: 'deadline.passed';
  /** Milliseconds since the epoch, now. */
  readonly at: number;
}
