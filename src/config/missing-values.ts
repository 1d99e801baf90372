/** What to say of references without a value: which they are, and what to do about each kind. */
import { HoldfastError } from '../domain/errors.ts';
import type { ConfigFormat } from './formats/format.ts';
import { hubSyntax, opencodeSyntax } from './placeholders.ts';

/** The error of an entry that lacks values. */
export function missingError(
  { name, file, format }: { readonly name: string; readonly file: string; readonly format: ConfigFormat },
  missing: readonly string[],
): HoldfastError {
  const hints = new Set(missing.map((each) => hintFor(each, format, missing.length === 1)));
  return new HoldfastError(
    'server_misconfigured',
    `Server "${name}" in "${file}": expected ${missing.length === 1 ? 'a value' : 'values'} for ${missing.map((each) => `"${each}"`).join(', ')}, got none. ${[...hints].join(' ')}`,
  );
}

function hintFor(missing: string, format: ConfigFormat, isAlone: boolean): string {
  const { placeholders } = format;
  const isOwn = format.id === 'holdfast';
  if (missing.includes('${'))
    return 'A placeholder within another is not supported: write the inner one as plain text, or set the variable.';
  if (missing.startsWith('cmd:'))
    return placeholders === hubSyntax
      ? 'A command in a placeholder runs only with consent: set a variable instead.'
      : `${isOwn ? 'holdfast.json' : format.product} has no placeholders for commands: put what the command prints into a variable, and write "\${NAME}" instead.`;
  if (missing.startsWith('input:') && !isOwn)
    return 'Another tool asks for it: "holdfast import --output FILE" writes the same servers with variables to set.';
  if (missing.startsWith('file:') && !isOwn) return 'Check that the file is there, and can be read.';
  if (placeholders !== opencodeSyntax && !/^[A-Za-z_]\w*(?::-|$)/.test(missing))
    return `A placeholder is written "\${NAME}" or "\${NAME:-default}"${isOwn ? '' : ` in ${format.product}`}: mend it.`;
  return `Set ${isAlone ? 'the variable' : 'the variables'}, or give a default with "\${NAME:-default}".`;
}
