/** What the command line shows: tools, servers, results, questions and events, as lines a person reads. */
import type {
  ContentBlock,
  PendingElicitation,
  ServerSnapshot,
  ServerState,
  ServerStatus,
  ThreadEvent,
  ToolInfo,
  ToolResult,
} from '../index.ts';
import { oneLine, plain, type Style, type Terminal } from './terminal.ts';
import { isObject } from './values.ts';

/** The parts of a terminal that rendering needs. */
export type Painter = Pick<Terminal, 'paint'>;

/** The longest name of a tool that shares its line with the description. */
const longestName = 32;

/** The width of what is no terminal: a line each. */
const unbounded = 10_000;

/** The tools, by server, each description whole and within the width of the terminal. */
export function formatTools(tools: readonly ToolInfo[], { paint, output }: Pick<Terminal, 'paint' | 'output'>): string {
  if (tools.length === 0) return 'No tools.';
  const name = Math.min(longestName, Math.max(...tools.map((tool) => tool.name.length)));
  const margin = ' '.repeat(name + 4);
  const width = Math.max(20, (output.columns ?? unbounded) - margin.length);
  const lines: string[] = [];
  for (const server of new Set(tools.map((tool) => tool.server))) {
    lines.push(paint('bold', plain(server)));
    for (const tool of tools) {
      if (tool.server !== server) continue;
      const [first = '', ...rest] = wrap(oneLine(tool.description ?? tool.title ?? '', 600), width);
      const label = plain(tool.name);
      const isLong = label.length > name;
      lines.push(`  ${paint('cyan', isLong ? label : label.padEnd(name))}${isLong ? '' : `  ${first}`}`.trimEnd());
      lines.push(...(isLong && first !== '' ? [first, ...rest] : rest).map((line) => `${margin}${line}`));
    }
  }
  return lines.join('\n');
}

/** Breaks a text at blanks into lines of at most `width`, a longer word where it must. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => whole.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [])) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

const stateStyles = {
  ready: 'green',
  degraded: 'yellow',
  starting: 'yellow',
  reconnecting: 'yellow',
  authRequired: 'yellow',
  failed: 'red',
  misconfigured: 'red',
  disabled: 'dim',
  closed: 'dim',
} as const satisfies Record<ServerState, Style>;

/** The servers, one a line, with what is wrong below. */
export function formatServers(
  servers: readonly (ServerSnapshot & Partial<Pick<ServerStatus, 'tools'>>)[],
  { paint }: Painter,
  width = Math.min(40, Math.max(0, ...servers.map((server) => server.name.length))),
): string {
  if (servers.length === 0) return 'No servers.';
  return servers
    .flatMap((server) => {
      const facts = [
        server.transport,
        server.era,
        server.protocolVersion,
        server.environment === undefined ? undefined : `in ${plain(server.environment)}`,
        toolsInWords(server),
        server.pid === undefined ? undefined : `pid ${server.pid}`,
        `generation ${server.generations.join(', ')}`,
      ].filter((fact) => fact !== undefined);
      const state = paint(stateStyles[server.state], server.state.padEnd(13));
      const lines = [`${plain(server.name).padEnd(width)}  ${state}  ${paint('dim', facts.join(' · '))}`];
      if (server.error === undefined && server.state === 'disabled')
        lines.push(`  ${paint('dim', '"enabled" is false in its configuration.')}`);
      if (server.error !== undefined)
        lines.push(`  ${paint('red', plain(server.error.message))}`, ...stderrLines(server.error.stderr, paint));
      if (server.state === 'authRequired') lines.push(`  ${loginHint(server.name)}`);
      return lines;
    })
    .join('\n');
}

/** How many tools are offered, of how many the server listed. */
function toolsInWords({ toolCount, tools }: ServerSnapshot & Partial<Pick<ServerStatus, 'tools'>>): string {
  const { shown = toolCount, listed = toolCount } = tools ?? {};
  const count = shown === listed ? String(shown) : `${String(shown)} of ${String(listed)}`;
  return `${count} ${listed === 1 ? 'tool' : 'tools'}`;
}

/** Says how to sign in to a server. */
export function loginHint(server: string): string {
  return `Sign in: holdfast login ${plain(server)}`;
}

function stderrLines(stderr: string | undefined, paint: Painter['paint']): string[] {
  if (stderr === undefined || stderr.trim() === '') return [];
  return plain(stderr)
    .trimEnd()
    .split('\n')
    .slice(-5)
    .map((line) => `  ${paint('dim', `| ${line}`)}`);
}

/** What a tool returned. */
export function formatResult(result: ToolResult, { paint }: Painter): string {
  const parts = result.content.map(formatBlock);
  if (result.structuredContent !== undefined && !parts.some((part) => isSameJson(part, result.structuredContent))) {
    parts.push(plain(JSON.stringify(result.structuredContent, null, 2)));
  }
  const text = parts.join('\n');
  if (result.isError === true) return `${paint('red', 'The tool reports an error:')}\n${text}`;
  return text === '' ? paint('dim', '(no content)') : text;
}

function isSameJson(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

function formatBlock(block: ContentBlock): string {
  const { type, text, mimeType, data, uri, resource } = block;
  if (type === 'text' && typeof text === 'string') return plain(text);
  const kind = typeof mimeType === 'string' ? `, ${plain(mimeType)}` : '';
  if (typeof data === 'string') return `[${plain(type)}${kind}, ${Math.floor((data.length * 3) / 4)} bytes]`;
  if (typeof uri === 'string') return `[${plain(type)}${kind}, ${plain(uri)}]`;
  if (isObject(resource)) {
    const at = typeof resource['uri'] === 'string' ? plain(resource['uri']) : 'resource';
    return typeof resource['text'] === 'string' ? `[${at}]\n${plain(resource['text'])}` : `[${at}]`;
  }
  return `[${plain(type)}]`;
}

/** A question in one line. */
export function formatQuestion(elicitation: PendingElicitation, index: number, { paint }: Painter): string {
  const call = elicitation.request === undefined ? '' : ` for call ${String(elicitation.request)}`;
  return `${paint('yellow', `[${index}]`)} ${plain(elicitation.server)} asks${call} (${elicitation.kind}, generation ${elicitation.generation}): ${oneLine(elicitation.message)}`;
}

/** A fact in one line. */
export function formatEvent(event: ThreadEvent, { paint }: Painter): string {
  const { type, at } = event;
  const facts = Object.entries(factsOf(event)).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${oneLine(typeof value === 'string' ? value : JSON.stringify(value), 100)}`],
  );
  return paint('dim', `${at.slice(11, 23)} ${type} ${facts.join(' ')}`);
}

/** A call shows under the one id that the shell gave it, in events as in questions. */
function factsOf(event: ThreadEvent): Readonly<Record<string, unknown>> {
  const { type: _type, at: _at, ...facts } = event;
  if ('elicitation' in facts) {
    const { token, kind, server, request, call, message } = facts.elicitation;
    return { token, kind, server, call: request ?? call, message };
  }
  if (!('request' in facts)) return facts;
  const { request, ...others } = facts;
  return { ...others, call: request };
}
