/** Checks what callers give, where types cannot: JavaScript callers, JSON lines, models. */
import type { BeginStepOptions } from './api.ts';
import { approvalModes } from './domain/config.ts';
import type { ApprovalMode, Policy } from './domain/config.ts';
import { HoldfastError } from './domain/errors.ts';
import { isJsonObject, isRecord, shown } from './domain/json.ts';
import type { JsonObject } from './domain/json.ts';

const longestTimeoutMs = 2 ** 31 - 1;

/** @throws HoldfastError `invalid_argument` unless it is absent or whole milliseconds from 1 to 2^31-1. */
export function checkTimeout(timeoutMs: number | undefined, name = 'timeoutMs'): void {
  if (timeoutMs === undefined || (Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= longestTimeoutMs))
    return;
  throw new HoldfastError(
    'invalid_argument',
    `Expected ${name} to be whole milliseconds from 1 to ${String(longestTimeoutMs)}, got ${String(timeoutMs)}.`,
  );
}

/** @throws HoldfastError `invalid_arguments` unless the arguments of a call are an object or absent (RT-8). */
export function checkCallArguments(tool: string, args: unknown): asserts args is JsonObject | undefined {
  if (args === undefined || isRecord(args)) return;
  const got = Array.isArray(args) ? 'a list' : args === null ? 'null' : `a value of type ${typeof args}`;
  throw new HoldfastError(
    'invalid_arguments',
    `Expected the arguments of "${tool}" to be an object, got ${got}. Leave them out if there are none.`,
    { outcome: 'not-sent' },
  );
}

/** @throws HoldfastError `invalid_argument` for a mode that is none: it must not count as one that asks less. */
export function checkPolicy({ approval, approvalOverride }: Policy): void {
  checkMode('approval', approval);
  checkMode('approvalOverride', approvalOverride);
}

function checkMode(name: string, mode: ApprovalMode | undefined): void {
  if (mode === undefined || approvalModes.includes(mode)) return;
  const modes = approvalModes.map((each) => `"${each}"`).join(', ');
  throw new HoldfastError('invalid_argument', `Expected policy.${name} to be one of ${modes}, got ${shown(mode)}.`);
}

/** A copy of the sandbox state a step is begun with. @throws HoldfastError `invalid_argument` unless it is a JSON object. */
export function sandboxStateOf({ sandboxState }: BeginStepOptions): JsonObject | undefined {
  if (sandboxState === undefined) return undefined;
  try {
    const copy: unknown = JSON.parse(JSON.stringify(sandboxState));
    if (isJsonObject(copy)) return copy;
  } catch {
    // A cycle, a bigint: said below.
  }
  throw new HoldfastError(
    'invalid_argument',
    `Expected sandboxState to be a JSON object, got ${shown(sandboxState)}. Leave it out if there is none.`,
  );
}

/** @throws HoldfastError `invalid_argument` unless it is a non-empty text. */
export function checkName(value: unknown, what: string): asserts value is string {
  if (typeof value === 'string' && value !== '') return;
  throw new HoldfastError('invalid_argument', `Expected ${what} to be a non-empty string, got ${shown(value)}.`);
}
