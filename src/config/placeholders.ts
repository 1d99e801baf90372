/** `${VAR}` and `${VAR:-default}` in the strings of a file (SPEC CA-3). One pass: what is put in is not scanned again. */

/** Where placeholder values come from: usually `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What became of one string. */
export interface Resolved {
  readonly text: string;
  /** The references that have no value, as written between the braces. */
  readonly missing: readonly string[];
  /** Values taken from variables that may be secret (SPEC SE-1): to be redacted. */
  readonly secrets: readonly string[];
}

const reference = /\$\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/g;
/** Variables whose values nobody hides. */
const harmless =
  /^(PATH|HOME|PWD|LANG|LANGUAGE|LC_.*|TZ|TERM|SHELL|USER|LOGNAME|USERNAME|USERPROFILE|TMPDIR|TEMP|TMP|NODE_ENV)$/i;
const known = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
/** `${input:id}` and the like: another tool's syntax, which never has a value here. */
const foreign = /^[A-Za-z]+:(?!-)[^}]+$/;

/**
 * Puts the values of variables into a string.
 *
 * `:-` takes its default when the variable is unset or empty, as a shell does. With `shell` set, `${…}` of a form that is
 * not ours is left alone, since an argument may well be a script; otherwise it counts as missing.
 */
export function resolvePlaceholders(
  text: string,
  env: Environment,
  options: { readonly shell?: boolean } = {},
): Resolved {
  if (!text.includes('${')) return { text, missing: [], secrets: [] };
  const missing: string[] = [];
  const secrets: string[] = [];
  const result = text.replace(reference, (whole, body: string) => {
    const [, name, fallback] = known.exec(body) ?? [];
    if (name === undefined) {
      if (options.shell !== true || foreign.test(body)) missing.push(body);
      return whole;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && (value !== '' || fallback === undefined)) {
      if (value.length >= 8 && !harmless.test(name)) secrets.push(value);
      return value;
    }
    // A placeholder within a default is not expanded, and must not go out as it stands.
    if (fallback !== undefined && !fallback.includes('${')) return fallback;
    missing.push(fallback === undefined ? name : body);
    return whole;
  });
  return { text: result, missing, secrets };
}
