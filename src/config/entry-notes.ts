/** What looks odd about an entry that can be understood all the same. */
import type { ServerConfig } from '../domain/config.ts';
import { isRecord } from '../domain/json.ts';
import { replaceFinds } from './find-references.ts';
import type { Draft, Note } from './formats/draft.ts';
import type { ConfigFormat } from './formats/format.ts';

/** References of other tools' forms, besides `${…}`. */
const otherReference = /\$[A-Za-z_]\w*|\{\{?\s*[A-Za-z_][\w:./~-]*\s*\}?\}/;

/** Looks for references of any tool's form, in text where the format at hand has none. */
function hasReference(text: string): boolean {
  const start = text.indexOf('${');
  return (start >= 0 && text.includes('}', start)) || otherReference.test(text);
}

/** Text somebody was meant to replace. */
const placeholderValue =
  /^<[^<>]+>$|\byour[-_ ]?(?:\w+[-_ ])?(?:api|access|secret|auth)?[-_ ]?(?:key|token|secret|password|id|name)|\/path\/to\/|^(?:xxx+|changeme|change[-_]me|redacted|\[redacted\]|replace[-_ ]?me|todo)$|=(?:redacted|changeme|xxx+)$/i;

/** Looks an entry over. The draft has the text as it was written, the configuration as it came out. */
export function entryNotes(config: ServerConfig, draft: Draft, format: ConfigFormat): Note[] {
  return [
    ...commandNotes(config),
    ...('url' in config &&
    config.transport === undefined &&
    draft.fields.get('type') === undefined &&
    format.urlTransport === undefined
      ? [{ code: 'type-inferred', message: 'the url has no type: Streamable HTTP is tried, then SSE.' }]
      : []),
    ...emptyNotes(config),
    ...foreignNotes(draft, format),
    ...literalNotes(config, draft, format),
    ...placeholderNotes(config),
  ];
}

function commandNotes(config: ServerConfig): Note[] {
  return 'command' in config && (config.args ?? []).length === 0 && /^[\w.@-]+\s+\S/.test(config.command)
    ? [
        {
          code: 'command-looks-like-line',
          message: '"command" looks like a whole command line. It is taken as one program: put the rest into "args".',
        },
      ]
    : [];
}

function emptyNotes(config: ServerConfig): Note[] {
  const names = 'command' in config ? Object.entries(config.env ?? {}).filter(([, value]) => value === '') : [];
  return names.length === 0
    ? []
    : [
        {
          code: 'empty-env-value',
          message: `${names.map(([name]) => `"${name}"`).join(', ')} in "env" is empty, and is set so.`,
        },
      ];
}

/** Only environment and headers: shell text is normal in arguments. */
function foreignNotes(draft: Draft, format: ConfigFormat): Note[] {
  const names = (['env', 'headers'] as const).flatMap((field) => {
    const values = draft.fields.get(field);
    const { placeholders } = format;
    const isLiteral = placeholders.fields?.includes(field) === false;
    return Object.entries(isRecord(values) ? values : {}).flatMap(([key, value]) => {
      if (typeof value !== 'string') return [];
      const rest = isLiteral
        ? value
        : replaceFinds(value, placeholders.find, (found) =>
            placeholders.read(found, false) === undefined ? found : '',
          );
      return hasReference(rest) ? [`"${key}"`] : [];
    });
  });
  return names.length === 0
    ? []
    : [
        {
          code: 'foreign-placeholder',
          message: `${names.join(', ')} holds what other tools take for a placeholder. ${format.product} does not: it goes out as it stands.`,
        },
      ];
}

/** Programs whose arguments may be scripts, in which such text has a meaning of its own. */
const interpreter =
  /^(?:.*[\\/])?(?:(?:ba|z|da|k|fi|c|tc)?sh|node|bun|deno|python[\d.]*|perl|ruby|php|pwsh|powershell|cmd)(?:\.exe)?$/i;
const scriptFlag = /^-[a-z]*[cepr]$|^\/c$|^--?(?:eval|command|print)$/i;

/** Text in arguments that has the look of a placeholder and is none: unless it is a script, somebody mistyped it. */
function literalNotes(config: ServerConfig, draft: Draft, format: ConfigFormat): Note[] {
  const { placeholders } = format;
  const written = draft.fields.get('args');
  if (!('command' in config) || !Array.isArray(written) || placeholders.fields?.includes('args') === false) return [];
  const words: readonly unknown[] = [config.command, ...(written as readonly unknown[])];
  const names = words.flatMap((word, index) => {
    if (index === 0 || typeof word !== 'string') return [];
    const before = words.slice(0, index);
    const last = before.at(-1);
    const isScript =
      typeof last === 'string' &&
      scriptFlag.test(last) &&
      before.some((each) => typeof each === 'string' && interpreter.test(each));
    const isLiteral =
      !isScript &&
      [...placeholders.find(word)].some(
        ({ text: found }) => found.startsWith('${') && placeholders.read(found, true) === undefined,
      );
    return isLiteral ? [`args ${index}`] : [];
  });
  return names.length === 0
    ? []
    : [
        {
          code: 'literal-placeholder',
          message: `${names.map((name) => `"${name}"`).join(', ')} holds "\${…}" that is no placeholder: those are "\${NAME}" and "\${NAME:-default}", not nested. It goes out as it stands.`,
        },
      ];
}

function placeholderNotes(config: ServerConfig): Note[] {
  const values =
    'command' in config
      ? [
          ...(config.args ?? []).map((value, index) => [`args ${index + 1}`, value] as const),
          ...Object.entries(config.env ?? {}),
          ['cwd', config.cwd ?? ''] as const,
        ]
      : 'url' in config
        ? Object.entries(config.headers ?? {})
        : [];
  const names = values.filter(([, value]) => placeholderValue.test(value)).map(([name]) => `"${name}"`);
  return names.length === 0
    ? []
    : [
        {
          code: 'placeholder-value',
          message: `${names.join(', ')} holds text that was meant to be replaced. Put the real value there.`,
        },
      ];
}
