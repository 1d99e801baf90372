/** Branded ids, and the only places their casts are written. */
import { HoldfastError } from './errors.ts';

declare const brand: unique symbol;
type Brand<TName extends string> = string & { readonly [brand]: TName };

export type ThreadId = Brand<'thread'>;
export type StepId = Brand<'step'>;
export type CallId = Brand<'call'>;
export type ConnectionId = Brand<'connection'>;
export type ElicitationToken = Brand<'elicitation'>;

/** @throws HoldfastError `invalid_argument` for an empty id. */
export function threadId(value: string): ThreadId {
  return nonEmpty(value, 'thread id') as ThreadId;
}

export function stepId(value: string): StepId {
  return nonEmpty(value, 'step id') as StepId;
}

export function callId(value: string): CallId {
  return nonEmpty(value, 'call id') as CallId;
}

export function connectionId(value: string): ConnectionId {
  return nonEmpty(value, 'connection id') as ConnectionId;
}

export function elicitationToken(value: string): ElicitationToken {
  return nonEmpty(value, 'elicitation token') as ElicitationToken;
}

function nonEmpty(value: string, what: string): string {
  if (value === '') throw new HoldfastError('invalid_argument', `Expected a non-empty ${what}, got "".`);
  return value;
}
