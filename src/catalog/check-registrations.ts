/** Checks what a catalog is made of, where types cannot: one bad field is named before anything is noted. */
import { sourceKinds } from '../domain/catalog.ts';
import { HoldfastError } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import { matchesPattern } from '../domain/text-pattern.ts';

/** @throws HoldfastError `invalid_argument` for a name or a source that is none. */
export function checkNamed(given: unknown): void {
  const { name, source } = fieldsOf(given, '{ name, source, … }');
  checkName(name);
  checkSource(source);
}

/** @throws HoldfastError `invalid_argument` for what is no name of a server. */
export function checkName(name: unknown): void {
  if (typeof name !== 'string') throw expected('the name of a server', name);
}

/** @throws HoldfastError `invalid_argument` for a source that is none, or has no place among those of its kind. */
export function checkSource(source: unknown): void {
  const { kind, plugin, id, order } = fieldsOf(source, 'a source, such as { kind: "config" }');
  if (!sourceKinds.some((each) => each === kind))
    throw expected(`the kind of a source (${sourceKinds.map((each) => `"${each}"`).join(', ')})`, kind);
  const isPlugin = kind === 'plugin' || kind === 'selectedPlugin';
  if (isPlugin && !(isRecord(plugin) && isText(plugin['id'])))
    throw expected('the plugin of a source as { id, name }', plugin);
  if ((kind === 'extension' || kind === 'compatibility') && !isText(id)) throw expected('the id of a source', id);
  if ((isPlugin || kind === 'extension') && !Number.isFinite(order))
    throw new HoldfastError(
      'invalid_argument',
      `Expected the order of a source to be a finite number, got ${String(order)}. Number the sources of a kind from 0.`,
    );
}

/** @throws HoldfastError `invalid_argument` for what is no `{ servers }`. */
export function checkSet(set: unknown): void {
  const { servers } = fieldsOf(set, '{ servers, … }, as readConfig gives it');
  if (!isRecord(servers)) throw expected('"servers" to be an object of name to configuration', servers);
}

/** @throws HoldfastError `invalid_argument` for a requirement that could not be decided, its rule named. */
export function checkRequirements(requirements: unknown): void {
  const { source, allow } = fieldsOf(requirements, 'a requirement as { source, allow }');
  if (!isText(source)) throw expected('the source of a requirement, as people read it', source);
  if (!Array.isArray(allow)) throw expected(`the requirement of "${source}" to list rules in "allow"`, allow);
  for (const [index, rule] of allow.entries()) {
    const problem = problemOfRule(rule);
    if (problem !== undefined) throw expected(`rule ${String(index)} of "${source}" ${problem}`, rule);
  }
}

function problemOfRule(rule: unknown): string | undefined {
  if (!isRecord(rule)) return 'to be an object';
  const { name, command, url, args } = rule;
  if (name !== undefined && !isText(name)) return 'to have a "name" that is a text, or none';
  if ((command === undefined) === (url === undefined)) return 'to have either a "command" or a "url"';
  if (url !== undefined) return problemOfText(url, 'url');
  if (!isText(command)) return 'to have a "command" that is a text';
  if (args === undefined) return undefined;
  if (!Array.isArray(args)) return 'to have "args" that are a list, or none';
  return args.map((arg) => problemOfText(arg, 'args')).find((problem) => problem !== undefined);
}

function problemOfText(rule: unknown, field: string): string | undefined {
  if (typeof rule === 'string') return undefined;
  const { exact, prefix, pattern } = isRecord(rule) ? rule : {};
  const given = [exact, prefix, pattern].filter((text) => text !== undefined);
  if (given.length !== 1 || typeof given[0] !== 'string')
    return `to have a "${field}" that is a text, { exact }, { prefix } or { pattern }`;
  return typeof pattern !== 'string' || matchesPattern(pattern, '') !== undefined
    ? undefined
    : `to have a "${field}" whose pattern is a regular expression of at most 512 characters without look-behind and back-references`;
}

function fieldsOf(value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw expected(what, value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function expected(what: string, got: unknown): HoldfastError {
  return new HoldfastError('invalid_argument', `Expected ${what}, got ${shown(got)}.`);
}
