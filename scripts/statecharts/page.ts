/** Writes the page of a machine, and the index of all pages. Markdown, formatted as everything here is. */
import { format } from 'prettier';
import { drawChart } from './mermaid.ts';
import { everyState, statePath } from './read.ts';
import type { Chart, ChartMove, ChartState } from './read.ts';

const notice = '<!-- Generated from src/machines by `npm run docs`. Change the machine, not this page. -->';

/** The page of one machine. */
export function renderPage(noun: string, chart: Chart): Promise<string> {
  const states = everyState(chart.root);
  return markdown([
    `# ${title(noun)}`,
    notice,
    sentence(chart.root.description),
    ['```mermaid', drawChart(chart), '```'].join('\n'),
    ...section('States', stateTable(chart.root)),
    ...section('Events in', moveTable(states.flatMap((state) => state.moves))),
    ...section('Sends', bullets(chart.sends)),
    ...section('Slots', slots(states)),
    ...section('Persisted', bullets(chart.persisted)),
    ...section('Invariants', bullets(chart.invariants)),
  ]);
}

/** The index of the pages. */
export function renderIndex(charts: ReadonlyMap<string, Chart>): Promise<string> {
  const rows = [...charts].map(([noun, chart]) => [
    `[${noun}](${noun}.md)`,
    cell(chart.root.description),
    String(everyState(chart.root).length - 1),
  ]);
  return markdown([
    '# Statecharts',
    notice,
    'One page a machine: its chart, what each state means, what it hears and says, what it keeps, and what always holds.',
    table(['machine', 'what it is', 'states'], rows),
  ]);
}

function markdown(blocks: readonly string[]): Promise<string> {
  return format(blocks.join('\n\n'), { parser: 'markdown', printWidth: 120, singleQuote: true });
}

function section(heading: string, body: string): readonly string[] {
  return body === '' ? [] : [`## ${heading}`, body];
}

function stateTable(root: ChartState): string {
  const rows = everyState(root)
    .filter((state) => state !== root || state.entry.length + state.exit.length + state.invokes.length > 0)
    .map((state) => [code(statePath(state)), cell(meaning(state)), list(runs(state))]);
  return table(['state', 'what it means', 'runs'], rows);
}

function meaning(state: ChartState): string {
  const marks = [
    ...(state.kind === 'final' || state.kind === 'parallel' || state.kind === 'history' ? [state.kind] : []),
    ...state.tags.map((tag) => `tag ${tag}`),
  ];
  return `${sentence(state.description)}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`;
}

function runs(state: ChartState): readonly string[] {
  return [
    ...state.entry.map((action) => `entry: ${code(action)}`),
    ...state.invokes.map(({ id, source }) => `actor: ${code(id === source ? id : `${id} (${source})`)}`),
    ...state.exit.map((action) => `exit: ${code(action)}`),
  ];
}

function moveTable(moves: readonly ChartMove[]): string {
  const rows = moves.map((move) => [
    move.event === '' ? 'always' : code(move.event),
    code(statePath(move.from)),
    [move.guard === undefined ? '' : code(move.guard), cell(move.description ?? '')].filter(Boolean).join(' '),
    move.to === undefined ? 'stays' : code(statePath(move.to)),
    list(move.actions.map(code)),
  ]);
  return table(['event', 'in', 'if', 'goes to', 'does'], rows);
}

function slots(states: readonly ChartState[]): string {
  const moves = states.flatMap((state) => state.moves);
  const actions = states.flatMap((state) => [...state.entry, ...state.exit]);
  const used = {
    Actions: [...actions, ...moves.flatMap((move) => move.actions)].filter((name) => !builtIn.has(name)),
    Actors: states.flatMap((state) => state.invokes.map(({ source }) => source)),
    Guards: moves.flatMap((move) => move.guards).filter((name) => !builtIn.has(name)),
  };
  const lines = Object.entries(used).map(([heading, names]) => {
    const distinct = [...new Set(names)].filter((name) => name !== '').toSorted(byCodeUnit);
    return distinct.length === 0 ? '' : `${heading}: ${distinct.map(code).join(', ')}`;
  });
  return bullets(lines.filter((line) => line !== ''));
}

/** What XState brings itself, and what has no name. */
const builtIn: ReadonlySet<string> = new Set(
  'assign raise sendTo sendParent emit log cancel spawnChild stopChild enqueueActions forwardTo inline condition'.split(
    ' ',
  ),
);

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function list(parts: readonly string[]): string {
  return parts.join(', ');
}

function code(text: string): string {
  return `\`${cell(text)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
}

function sentence(text: string): string {
  return /[.!?]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}

function title(noun: string): string {
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1).replaceAll('-', ' ')}`;
}

function byCodeUnit(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
