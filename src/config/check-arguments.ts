/** Checks what callers of `holdfast/config` give, where types cannot. Every check throws `invalid_argument`. */
import { HoldfastError } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';

type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'a non-empty string');
const callback: Check = (value) => (typeof value === 'function' ? undefined : 'a function');
const milliseconds: Check = (value) =>
  typeof value === 'number' && value >= 0 && value < 2 ** 31 ? undefined : 'milliseconds from 0 to 2147483647';
const texts: Check = (value) =>
  isRecord(value) && Object.values(value).every((inner) => inner === undefined || typeof inner === 'string')
    ? undefined
    : 'an object of strings';

/** Every option there is: one name means the same everywhere. */
const options: Readonly<Record<string, Check>> = {
  env: texts,
  inputs: texts,
  workspaceFolder: text,
  pluginRoot: text,
  userHome: text,
  home: text,
  platform: text,
  path: text,
  root: text,
  environment: text,
  file: text,
  runCommand: callback,
  onWarning: callback,
  debounceMs: milliseconds,
  maxWaitMs: milliseconds,
  graceMs: milliseconds,
  scheduler: (value) =>
    isRecord(value) && typeof value['schedule'] === 'function' ? undefined : 'a scheduler of rxjs',
};

/** @throws HoldfastError `invalid_argument` unless it is a list of paths. */
export function checkFiles(files: unknown, of: string): void {
  if (Array.isArray(files) && files.every((file) => text(file) === undefined)) return;
  throw invalid(
    `Expected ${of} to be given a list of paths, got ${shown(files)}.${typeof files === 'string' ? ' Put it in brackets: [ ].' : ''}`,
  );
}

/** @throws HoldfastError `invalid_argument` unless it is text. */
export function checkText(value: unknown, what: string): void {
  if (typeof value !== 'string') throw invalid(`Expected ${what} to be a string, got ${shown(value)}.`);
}

/** @throws HoldfastError `invalid_argument` unless it is an object of options, each of its kind; `required` must be there. */
export function checkOptions(given: unknown, of: string, required?: string): void {
  if (!isRecord(given)) throw invalid(`Expected the options of ${of} to be an object, got ${shown(given)}.`);
  for (const [name, value] of Object.entries(given)) {
    const wanted = value === undefined || !Object.hasOwn(options, name) ? undefined : options[name]?.(value);
    if (wanted !== undefined) throw invalid(`Expected "${name}" of ${of} to be ${wanted}, got ${shownValue(value)}.`);
  }
  if (required !== undefined && given[required] === undefined)
    throw invalid(`Expected the options of ${of} to have "${required}", got none.`);
}

/** @throws HoldfastError `invalid_argument` unless it has the look of what importing files gives. */
export function checkReport(report: unknown): void {
  if (isRecord(report) && Array.isArray(report['files']) && isRecord(report['config'])) return;
  throw invalid(`Expected redactImport to be given what importFiles gave, got ${shown(report)}.`);
}

/** An environment may hold secrets: of objects only their kind is shown. */
function shownValue(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? Array.isArray(value)
      ? 'a list'
      : 'another object'
    : shown(value);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_argument', message);
}
