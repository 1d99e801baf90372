/** What `doctor` found, as a person reads it: one line a server, and below it what helps. */
import { oneLine, plain, type Style, type Terminal } from '../terminal.ts';
import type { PlacedCheck, ServerCheck, Verdict } from './check.ts';

type Painter = Pick<Terminal, 'paint'>;

const marks = {
  right: ['✓', 'green'],
  mend: ['✗', 'red'],
  off: ['-', 'dim'],
  unchecked: ['?', 'yellow'],
} as const satisfies Record<Verdict, readonly [string, Style]>;

/** The longest a line gets. */
const longest = 1_000;

/** A file that was read. */
export function formatFile(file: string, { paint }: Painter): string {
  return paint('bold', plain(file));
}

/** What is wrong with a file as a whole. */
export function formatProblem(message: string, { paint }: Painter, style: Style = 'red'): string {
  return `${paint(style, style === 'red' ? '✗' : '!')} ${oneLine(message, longest)}`;
}

/** One server, with what the files say about it. */
export function formatCheck(check: PlacedCheck, notes: readonly string[], width: number, { paint }: Painter): string {
  const [mark, style] = marks[check.verdict];
  const said = check.verdict === 'right' ? paint('dim', factsOf(check)) : oneLine(check.message, longest);
  const place =
    check.verdict === 'mend' && check.file !== undefined
      ? paint('dim', ` (${plain(check.file)}:${check.line ?? 1}:${check.column ?? 1})`)
      : '';
  return [
    `${paint(style, mark)} ${oneLine(check.server, 100).padEnd(width)}  ${said}${place}`,
    ...check.hints.map((hint) => `    ${paint('cyan', '→')} ${oneLine(hint, longest)}`),
    ...toolLines(check, paint),
    ...notes.map((note) => `    ${paint('yellow', '!')} ${oneLine(note, longest)}`),
    ...stderrLines(check, paint),
  ].join('\n');
}

/** How it all came out. */
export function formatEnd(
  checks: readonly ServerCheck[],
  problems: number,
  otherFiles: readonly string[],
  { paint }: Painter,
): string {
  if (checks.length === 0 && problems === 0)
    return otherFiles.length === 0
      ? 'No server is configured here. Write a holdfast.json, or name a file of any tool with "--config FILE".'
      : `No holdfast.json or .mcp.json with servers is here. Other tools have these: name them with "--config FILE".\n${otherFiles.map((file) => `  ${plain(file)}`).join('\n')}`;
  const count = (verdict: Verdict): number => checks.filter((check) => check.verdict === verdict).length;
  const toMend = count('mend') + problems;
  const parts = [
    `${count('right')} right`,
    ...(toMend === 0 ? [] : [`${toMend} to mend`]),
    ...(count('off') === 0 ? [] : [`${count('off')} off`]),
    ...(count('unchecked') === 0 ? [] : [`${count('unchecked')} not checked`]),
  ];
  const style = toMend > 0 ? 'red' : count('unchecked') > 0 ? 'yellow' : 'green';
  return paint(style, `${parts.join(', ')}.`);
}

/** Tools that cannot be used, one a line; those that are not to be shown, in one. */
function toolLines({ tools }: ServerCheck, paint: Terminal['paint']): readonly string[] {
  const missing = tools?.missing ?? [];
  const dropped = missing.filter(({ reason }) => reason === 'dropped');
  const others = missing.filter(({ reason }) => reason !== 'dropped');
  return [
    ...dropped.map(
      ({ tool, message }) => `    ${paint('yellow', '!')} ${oneLine(tool, 100)}: ${oneLine(message, longest)}`,
    ),
    ...(others.length === 0
      ? []
      : [
          `    ${paint('dim', `not shown: ${oneLine(others.map(({ tool, reason }) => `${tool} (${words[reason] ?? reason})`).join(', '), longest)}`)}`,
        ]),
  ];
}

const words: Readonly<Record<string, string>> = {
  denied: 'in "deny"',
  notAllowed: 'not in "allow"',
  hidden: 'not for the model, its server says',
};

function factsOf({ transport, era, protocolVersion, serverInfo, tools, tookMs, auth }: ServerCheck): string {
  const filtered = tools === undefined ? 0 : tools.listed - tools.shown;
  return [
    transport,
    protocolVersion === undefined ? era : `${era ?? ''} ${protocolVersion}`.trim(),
    serverInfo === undefined ? undefined : oneLine(`${serverInfo.name} ${serverInfo.version}`, 60),
    tools === undefined ? undefined : `${tools.shown} ${tools.shown === 1 ? 'tool' : 'tools'}`,
    filtered > 0 ? `${filtered} not shown` : undefined,
    auth === 'oauth' || auth === 'bearerToken' ? `auth ${auth}` : undefined,
    tookMs === undefined ? undefined : `${tookMs} ms`,
  ]
    .filter((fact) => fact !== undefined)
    .join(' · ');
}

function stderrLines({ error }: ServerCheck, paint: Terminal['paint']): readonly string[] {
  if (error?.stderr === undefined || error.stderr.trim() === '') return [];
  return plain(error.stderr)
    .trimEnd()
    .split('\n')
    .slice(-5)
    .map((line) => `    ${paint('dim', `| ${oneLine(line, longest)}`)}`);
}
