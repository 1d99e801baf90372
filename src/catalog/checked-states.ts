/** What a host says of its environments, held to what it may say: what is none of that is a place nothing starts in (SPEC CA-7). */
import type { EnvironmentState, EnvironmentStates } from '../domain/environment.ts';
import { isRecord, shown } from '../domain/json.ts';

/**
 * Makes what gives the same states, those that are none as failed: nothing that was meant for a place ever runs elsewhere.
 * What is wrong is told once until it is right again.
 */
export function statesChecker(warn: (message: string) => void): (given: unknown) => EnvironmentStates {
  let isTold = false;
  return (given) => {
    if (isRecord(given)) {
      isTold = false;
      return checkedStates(given);
    }
    if (!isTold)
      warn(
        `Expected the states of environments by id, got ${shown(given)}. Until there are some, nothing starts in any.`,
      );
    isTold = true;
    return {};
  };
}

function checkedStates(given: Readonly<Record<string, unknown>>): EnvironmentStates {
  return Object.fromEntries(Object.entries(given).map(([id, state]) => [id, checkedState(state)]));
}

function checkedState(given: unknown): EnvironmentState {
  if (isFit(given)) return given;
  const { kind, reason, ...rest } = isRecord(given) ? given : {};
  if (kind === 'failed') return { kind, reason: reason === undefined ? 'no reason was given.' : shown(reason) };
  if (kind === 'ready') {
    // The directory is for the model to know: one that is none costs itself only.
    const { cwd: _, ...place } = rest;
    const ready: unknown = { kind, ...place };
    if (isFit(ready)) return ready;
  }
  return {
    kind: 'failed',
    reason: `expected its state to be starting, ready with a handle and a launcher, or failed with a reason, got ${shown(given)}.`,
  };
}

function isFit(state: unknown): state is EnvironmentState {
  if (!isRecord(state)) return false;
  switch (state['kind']) {
    case 'starting':
      return true;
    case 'failed':
      return typeof state['reason'] === 'string';
    case 'ready':
      return (
        typeof state['handle'] === 'string' &&
        isRecord(state['launcher']) &&
        typeof state['launcher']['launch'] === 'function' &&
        ['string', 'undefined'].includes(typeof state['cwd'])
      );
    default:
      return false;
  }
}
