/**
 * References in the strings of a file to values elsewhere, each format by its own syntax only (SPEC CA-3).
 *
 * One pass: what is put in is not scanned again. Nothing here runs a command: what a command said comes from the caller,
 * who asked first.
 */
import { isHarmlessVariable, secretsOf } from '../domain/secrets.ts';
import { bracesAnd, type Finder, matching, replaceFinds } from './find-references.ts';

/** Where placeholder values come from: usually `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything a reference may point to. What is absent has no value. */
export interface Given {
  readonly env: Environment;
  /** Answers to the `inputs` of a file, by id. */
  readonly inputs?: Readonly<Record<string, string>>;
  readonly workspaceFolder?: string;
  readonly pluginRoot?: string;
  readonly userHome?: string;
  /** What commands in placeholders said, by command: for commands somebody consented to. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Reads a small file a placeholder names; `undefined` when it cannot be read. */
  readonly readFile?: (path: string) => string | undefined;
}

/** One reference: what stands between the braces, understood. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string; readonly fallback?: string }
  | { readonly kind: 'input'; readonly id: string }
  | { readonly kind: 'path'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly command: string }
  /** Of the right form, and without a meaning here: it never has a value. */
  | { readonly kind: 'unknown'; readonly body: string }
  /** Shell text that only looks like one: left alone when the variable is not set. */
  | { readonly kind: 'shell'; readonly name: string };

/** How one format writes references. */
export interface PlaceholderSyntax {
  /** Finds everything of the form. */
  readonly find: Finder;
  /** Understands one find; `undefined` leaves it as it is. `shell` is set for arguments, which may be scripts. */
  read(found: string, shell: boolean): Reference | undefined;
  /** The fields references are looked for in; all text fields unless given. */
  readonly fields?: readonly string[];
}

/** What became of one string. */
export interface Resolved {
  readonly text: string;
  /** The references that have no value, as a person would look for them. */
  readonly missing: readonly string[];
  /** Values that may be secret (SPEC SE-1): to be redacted. */
  readonly secrets: readonly string[];
  /** Values of predefined references, and paths that begin with one: no secrets, wherever they stand. */
  readonly plain: readonly string[];
}

const braces = bracesAnd();
const named = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
/** `${input:id}` and the like: another tool's syntax. */
const prefixed = /^([A-Za-z]+):(?!-)([^}]+)$/;

/** `${VAR}` and `${VAR:-default}`: Holdfast's own. */
export const ownSyntax: PlaceholderSyntax = {
  find: braces,
  read: (found, shell) => {
    const body = found.slice(2, -1);
    const variable = variableOf(body);
    if (variable !== undefined) return variable;
    return shell && !prefixed.test(body) ? undefined : { kind: 'unknown', body };
  },
};

const paths = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'userHome',
  'CLAUDE_PLUGIN_ROOT',
  'pathSeparator',
  '/',
]);

/** What editors and the tools after them write: variables, `${env:VAR}`, `${input:id}` and well-known paths. */
export const editorSyntax: PlaceholderSyntax = {
  find: braces,
  read: (found, shell) => editorReference(found.slice(2, -1), shell),
};

/** {@link editorSyntax}, and `${cmd: command}`. */
export const hubSyntax: PlaceholderSyntax = {
  find: braces,
  read: (found, shell) => {
    const command = /^cmd:\s*(.+)$/s.exec(found.slice(2, -1))?.[1];
    return command === undefined ? editorSyntax.read(found, shell) : { kind: 'command', command: command.trim() };
  },
};

/** {@link editorSyntax}, and `$VAR`. */
export const dollarSyntax: PlaceholderSyntax = {
  find: bracesAnd(/\$[A-Za-z_][A-Za-z0-9_]*/g),
  read: (found, shell) => {
    if (found.startsWith('${')) return editorSyntax.read(found, shell);
    const name = found.slice(1);
    return shell ? { kind: 'shell', name } : { kind: 'variable', name };
  },
};

/** `{env:VAR}` and `{file:path}`: OpenCode's. */
export const opencodeSyntax: PlaceholderSyntax = {
  // With a dollar sign before it, it is another tool's.
  find: matching(/(?<!\$)\{(?:env|file):[^{}]+\}/g),
  read: (found) => {
    const value = found.slice(found.indexOf(':') + 1, -1).trim();
    return found.startsWith('{env:') ? { kind: 'variable', name: value } : { kind: 'file', path: value };
  },
};

/** `${VAR}` and `{{NAME}}`, which LibreChat asks each of its users for. */
export const librechatSyntax: PlaceholderSyntax = {
  find: bracesAnd(/\{\{\s*[A-Za-z_][\w.-]*\s*\}\}/g),
  read: (found, shell) =>
    found.startsWith('{{') ? { kind: 'input', id: found.slice(2, -2).trim() } : ownSyntax.read(found, shell),
};

/** No references at all: Codex names variables in fields of their own. */
export const noSyntax: PlaceholderSyntax = { find: () => [], read: () => undefined };

function variableOf(body: string): Reference | undefined {
  const [, name, fallback] = named.exec(body) ?? [];
  return name === undefined ? undefined : { kind: 'variable', name, ...(fallback === undefined ? {} : { fallback }) };
}

function editorReference(body: string, shell: boolean): Reference | undefined {
  if (paths.has(body)) return { kind: 'path', name: body };
  const variable = variableOf(body);
  if (variable !== undefined) return variable;
  const [, prefix, rest = ''] = prefixed.exec(body) ?? [];
  if (prefix === 'env') return variableOf(rest) ?? { kind: 'unknown', body };
  if (prefix === 'input') return { kind: 'input', id: rest };
  return shell && prefix === undefined ? undefined : { kind: 'unknown', body };
}

/** Puts the values a format's references stand for into a string. */
export function resolveText(
  text: string,
  syntax: PlaceholderSyntax,
  given: Given,
  options: { readonly shell?: boolean } = {},
): Resolved {
  const missing: string[] = [];
  const secrets: string[] = [];
  const plain: string[] = [];
  const result = replaceReferences(text, syntax, options.shell === true, (reference, found) => {
    const value = valueOf(reference, given);
    if (value === undefined) {
      if (reference.kind !== 'shell') missing.push(nameOf(reference));
      secrets.push(...defaultsOf(reference));
      return found;
    }
    if (value.isSecret && value.text.length >= 8) secrets.push(value.text);
    if (reference.kind === 'variable' && value.text === reference.fallback) secrets.push(...defaultsOf(reference));
    if (reference.kind === 'path') plain.push(value.text);
    return value.text;
  });
  // A path below a folder, as `${workspaceFolder}/data`.
  const isBelow =
    secrets.length === 0 &&
    plain.some((each) => each.length > 1 && result.startsWith(each) && /^[\\/]/.test(result.slice(each.length)));
  return { text: result, missing, secrets, plain: isBelow ? [...plain, result] : plain };
}

/**
 * Puts the values of variables into a string of Holdfast's own syntax.
 *
 * `:-` takes its default when the variable is unset or empty, as a shell does. With `shell` set, `${…}` of a form that is
 * not ours is left alone, since an argument may well be a script; otherwise it counts as missing.
 */
export function resolvePlaceholders(
  text: string,
  env: Environment,
  options: { readonly shell?: boolean } = {},
): Resolved {
  return resolveText(text, ownSyntax, { env }, options);
}

/** Calls back for each reference of a text, and puts what it returns in its place. */
export function replaceReferences(
  text: string,
  syntax: PlaceholderSyntax,
  shell: boolean,
  replace: (reference: Reference, found: string) => string,
): string {
  return replaceFinds(text, syntax.find, (found) => {
    const reference = syntax.read(found, shell);
    return reference === undefined ? found : replace(reference, found);
  });
}

/** A reference by the name a person would look for. */
export function nameOf(reference: Reference): string {
  switch (reference.kind) {
    case 'variable':
      return reference.fallback === undefined ? reference.name : `${reference.name}:-${reference.fallback}`;
    case 'input':
      return `input:${reference.id}`;
    case 'file':
      return `file:${reference.path}`;
    case 'command':
      return `cmd: ${reference.command}`;
    case 'unknown':
      return reference.body;
    case 'path':
    case 'shell':
      return reference.name;
  }
}

/** What a reference says itself and may be secret: its default, without the references that are in it. */
export function defaultsOf(reference: Reference): readonly string[] {
  if (reference.kind !== 'variable' || reference.fallback === undefined || isHarmlessVariable(reference.name))
    return [];
  // An address is none, as it is none in "url"; what stands in it may be.
  if (/^https?:\/\//i.test(reference.fallback)) return secretsOf({ url: reference.fallback });
  return reference.fallback.split(/\$\{[^{}]*\}/).filter((part) => part.length >= 8);
}

/** The value of a reference, and whether it may be secret; `undefined` when nothing was given for it. */
export function valueOf(
  reference: Reference,
  given: Given,
): { readonly text: string; readonly isSecret: boolean } | undefined {
  switch (reference.kind) {
    case 'variable': {
      const { name, fallback } = reference;
      const value = ownValue(given.env, name);
      if (value !== undefined && (value !== '' || fallback === undefined))
        return { text: value, isSecret: !isHarmlessVariable(name) };
      // A placeholder within a default is not expanded, and must not go out as it stands.
      return fallback === undefined || fallback.includes('${') ? undefined : { text: fallback, isSecret: false };
    }
    case 'shell':
      return secret(ownValue(given.env, reference.name), !isHarmlessVariable(reference.name));
    case 'input':
      return secret(ownValue(given.inputs, reference.id), true);
    case 'command':
      return secret(ownValue(given.commands, reference.command), true);
    case 'file':
      return secret(given.readFile?.(reference.path)?.trim(), true);
    case 'path':
      return secret(pathOf(reference.name, given), false);
    case 'unknown':
      return undefined;
  }
}

function pathOf(name: string, given: Given): string | undefined {
  if (name === 'workspaceFolder') return given.workspaceFolder;
  if (name === 'workspaceFolderBasename') return given.workspaceFolder?.split(/[\\/]/).findLast((part) => part !== '');
  if (name === 'userHome') return given.userHome;
  if (name === 'CLAUDE_PLUGIN_ROOT') return given.pluginRoot ?? ownValue(given.env, name);
  return process.platform === 'win32' ? '\\' : '/';
}

function secret(
  text: string | undefined,
  isSecret: boolean,
): { readonly text: string; readonly isSecret: boolean } | undefined {
  return text === undefined ? undefined : { text, isSecret };
}

/** A value by its name: what every object has of itself is none. */
export function ownValue(values: Environment | undefined, name: string): string | undefined {
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}
