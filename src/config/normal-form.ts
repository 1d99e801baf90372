/**
 * One entry of any file as `holdfast.json` has it: references kept as references, in Holdfast's own syntax.
 *
 * N1 Reading what is written gives the same server as reading the file it came from, with the same values given.
 */
import type { ServerConfig } from '../domain/config.ts';
import { isRecord } from '../domain/json.ts';
import { replaceFinds } from './find-references.ts';
import {
  type Given,
  nameOf,
  ownSyntax,
  ownValue,
  type PlaceholderSyntax,
  type Reference,
  valueOf,
} from './placeholders.ts';
import { mapTexts, type ReadEntry, referencesOf, settle, textFields } from './read-entry.ts';

/** Stands for a dollar sign that begins no reference: the variable is never set. */
const dollar = '${HOLDFAST_DOLLAR:-$}';

/** The entry in normal form; `undefined` when it is none. */
export function normalForm(entry: ReadEntry): Readonly<Record<string, unknown>> | undefined {
  const { config, draft, source } = entry;
  if (config === undefined || draft === undefined) return undefined;
  const { given, format } = source;
  const settled = settle(config, source.directory);
  const form: Record<string, unknown> = { ...settled };
  for (const field of textFields) {
    if (!(field in config) || !draft.fields.has(field)) continue;
    const isLiteral = format.placeholders.fields?.includes(field) === false;
    const shell = field === 'args';
    form[field] = mapTexts(draft.fields.get(field), (inner) => {
      if (typeof inner === 'number' || typeof inner === 'boolean') return String(inner);
      if (typeof inner !== 'string') return inner;
      return isLiteral ? literal(inner, shell) : translate(inner, format.placeholders, given, shell);
    });
  }
  if ('command' in settled) {
    form['env'] = environmentOf(entry, settled, form['env']);
    if (Object.keys(settled.env ?? {}).length === 0 && draft.variables.size === 0 && !draft.fields.has('env'))
      delete form['env'];
    const cwd = draft.fields.get('cwd');
    const isPlain = typeof cwd !== 'string' || translate(cwd, format.placeholders, given, false) === cwd;
    if (isPlain) form['cwd'] = settled.cwd;
  }
  return Object.fromEntries(Object.entries(form).filter(([, value]) => value !== undefined));
}

/** The variables that stand for inputs in the normal form: input → variable. */
export function inputVariables(entry: ReadEntry): ReadonlyMap<string, string> {
  return new Map(
    referencesOf(entry).flatMap((reference) =>
      reference.kind === 'input' ? [[reference.id, variableFor(reference.id)] as const] : [],
    ),
  );
}

/** Variables the file passes on if they are set, and that are not: the normal form has no word for them. */
export function unsetVariables({ draft, source }: ReadEntry): readonly string[] {
  return [...(draft?.variables.values() ?? [])].flatMap(({ from, isRequired }) =>
    isRequired || ownValue(source.given.env, from) !== undefined ? [] : [from],
  );
}

/** References to commands and files, by name: the normal form has no word for them, and they never have a value there. */
export function untranslatedReferences(entry: ReadEntry): readonly string[] {
  const found = referencesOf(entry).filter(({ kind }) => kind === 'command' || kind === 'file');
  return [...new Set(found.map(nameOf))];
}

/** What the server gets: its own variables as written, those passed on from here as references. */
function environmentOf(
  { draft, source }: ReadEntry,
  config: Extract<ServerConfig, { readonly command: string }>,
  written: unknown,
): Readonly<Record<string, unknown>> {
  const own = isRecord(written) ? written : {};
  const passed = [...(draft?.variables ?? [])].filter(
    ([, { from, isRequired }]) => isRequired || ownValue(source.given.env, from) !== undefined,
  );
  const references = Object.fromEntries(passed.map(([key, { from }]) => [key, `\${${from}}`]));
  // What is left came from a file of variables.
  const rest = Object.entries(config.env ?? {}).map(([key, value]) => [key, literal(value, false)] as const);
  return { ...Object.fromEntries(rest), ...references, ...own };
}

function translate(text: string, syntax: PlaceholderSyntax, given: Given, shell: boolean): string {
  let result = '';
  let end = 0;
  for (const { index, text: found } of syntax.find(text)) {
    const reference = syntax.read(found, shell);
    if (reference === undefined) continue;
    result += literal(text.slice(end, index), shell) + reWritten(reference, given);
    end = index + found.length;
  }
  return result + literal(text.slice(end), shell);
}

function reWritten(reference: Reference, given: Given): string {
  switch (reference.kind) {
    case 'variable':
      return `\${${nameOf(reference)}}`;
    case 'shell':
      return `\${${reference.name}:-$${reference.name}}`;
    case 'input':
      return `\${${variableFor(reference.id)}}`;
    case 'path': {
      const value = valueOf(reference, given);
      return value === undefined ? `\${${reference.name}}` : literal(value.text, false);
    }
    // No form of Holdfast's says these: the server stays misconfigured, by this name.
    case 'file':
    case 'command':
    case 'unknown':
      return `\${${nameOf(reference)}}`;
  }
}

/** Text that must come out as it is, although Holdfast's syntax would see a reference in it. */
function literal(text: string, shell: boolean): string {
  return replaceFinds(text, ownSyntax.find, (found) =>
    ownSyntax.read(found, shell) === undefined ? found : `${dollar}${found.slice(1)}`,
  );
}

function variableFor(id: string): string {
  return `INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`;
}
