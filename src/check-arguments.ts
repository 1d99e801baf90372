/** Checks what callers give, where types cannot: JavaScript callers, JSON lines, models. */
import type { BeginStepOptions, Clock } from './api.ts';
import { HoldfastError } from './domain/errors.ts';
import { isJsonObject, isRecord, shown } from './domain/json.ts';
import type { JsonObject } from './domain/json.ts';

const longestTimeoutMs = 2 ** 31 - 1;
/** The latest time a date can say. */
const latestTimeMs = 8.64e15;

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

/** @throws HoldfastError `invalid_argument` unless time can be read from it and timers be set. */
export function checkClock(clock: Clock): void {
  const wanted = 'an object with now(), which gives milliseconds since the epoch, setTimeout() and clearTimeout()';
  const given: unknown = clock;
  const isClock =
    isObject(given) &&
    ['now', 'setTimeout', 'clearTimeout'].every((name) => typeof Reflect.get(given, name) === 'function');
  const now = isClock ? clock.now() : Number.NaN;
  if (Number.isFinite(now) && Math.abs(now) <= latestTimeMs) return;
  throw new HoldfastError(
    'invalid_argument',
    `Expected clock to be ${wanted}, got ${isClock ? `one whose now() is ${shown(now)}` : shown(given)}.`,
  );
}

/** @throws HoldfastError `invalid_argument` unless it is absent or an AbortSignal. */
export function checkAbortSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return;
  const isAlike =
    isObject(signal) &&
    typeof Reflect.get(signal, 'aborted') === 'boolean' &&
    typeof Reflect.get(signal, 'addEventListener') === 'function' &&
    typeof Reflect.get(signal, 'removeEventListener') === 'function';
  if (!isAlike)
    throw new HoldfastError(
      'invalid_argument',
      `Expected signal to be an AbortSignal, got ${shown(signal)}. Leave it out if there is none.`,
    );
}

/** @throws HoldfastError `invalid_argument` unless it is an object of options. */
export function checkOptions(options: unknown, of: string): void {
  if (isRecord(options)) return;
  throw new HoldfastError(
    'invalid_argument',
    `Expected the options of ${of} to be an object, got ${shown(options)}. Leave them out if there are none.`,
  );
}

/** @throws HoldfastError `invalid_argument` unless a caller's own id is absent, a text or a finite number. */
export function checkCallId(callId: unknown): void {
  if (callId === undefined || typeof callId === 'string' || Number.isFinite(callId)) return;
  throw new HoldfastError('invalid_argument', `Expected callId to be a string or a number, got ${shown(callId)}.`);
}

/** @throws HoldfastError `invalid_argument` unless it is a list of roots, each with the uri of a file or folder. */
export function checkRoots(roots: unknown): void {
  if (Array.isArray(roots) && roots.every(isRoot)) return;
  throw new HoldfastError(
    'invalid_argument',
    `Expected a list of roots, each { uri: "file://…", name? }, got ${shown(roots)}.`,
  );
}

function isRoot(root: unknown): boolean {
  return isRecord(root) && typeof root['uri'] === 'string' && /^file:\/\//i.test(root['uri']);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
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
