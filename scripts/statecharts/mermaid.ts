/** Draws a chart as a Mermaid state diagram. */
import { everyState } from './read.ts';
import type { Chart, ChartMove, ChartState } from './read.ts';

/**
 * Draws `chart`. The same chart gives the same text.
 *
 * What a state with states inside handles for all of them starts at "any": Mermaid draws no arrow from a state into
 * itself. An event such a state handles without moving is left to the table.
 */
export function drawChart(chart: Chart): string {
  return ['stateDiagram-v2', ...drawInside(chart.root, arrowsOf(chart.root), '  ')].join('\n');
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** The innermost state that holds both ends. */
  readonly within: ChartState;
}

function drawInside(state: ChartState, arrows: readonly Arrow[], indent: string): string[] {
  const own = arrows.filter((arrow) => arrow.within === state);
  const lines: string[] = [];
  if (own.some((arrow) => arrow.from === anyId(state))) lines.push(`${indent}state "any" as ${anyId(state)}`);
  for (const [index, child] of state.children.entries()) {
    if (state.kind === 'parallel' && index > 0) lines.push(`${indent}--`);
    lines.push(...drawState(child, arrows, indent));
  }
  if (state.initial !== undefined) lines.push(`${indent}[*] --> ${idOf(state.initial)}`);
  for (const arrow of merged(own)) {
    lines.push(`${indent}${arrow.from} --> ${arrow.to}${arrow.label === '' ? '' : ` : ${arrow.label}`}`);
  }
  for (const child of state.children) if (child.kind === 'final') lines.push(`${indent}${idOf(child)} --> [*]`);
  return lines;
}

function drawState(state: ChartState, arrows: readonly Arrow[], indent: string): string[] {
  const name = `${indent}state "${state.kind === 'history' ? `${state.key} (history)` : state.key}" as ${idOf(state)}`;
  if (state.children.length === 0) return [name];
  return [`${name} {`, ...drawInside(state, arrows, `${indent}  `), `${indent}}`];
}

function arrowsOf(root: ChartState): readonly Arrow[] {
  return everyState(root)
    .flatMap((state) => state.moves)
    .flatMap((move) => arrowOf(move) ?? []);
}

function arrowOf(move: ChartMove): Arrow | undefined {
  const nested = move.from.children.length > 0;
  if (move.to === undefined && nested) return undefined;
  // Where a state is entered again, what is entered is where it begins.
  const to = beginning(move.to ?? move.from, move.from);
  // Mermaid draws no arrow out of a state into one around it; entering that again shows on its own edge.
  const from = contains(to, move.from) ? to : move.from;
  const inside = nested && from !== to && contains(from, to);
  return {
    from: inside ? anyId(from) : idOf(from),
    to: idOf(to),
    label: labelOf(move),
    within: inside ? holder(to, from) : holder(to, from.parent ?? from),
  };
}

function beginning(to: ChartState, from: ChartState): ChartState {
  return to.initial !== undefined && contains(to, from) ? beginning(to.initial, from) : to;
}

/** The innermost ancestor of `to` that also holds `from`, or is it. */
function holder(to: ChartState, from: ChartState): ChartState {
  const candidate = to.parent ?? to;
  if (contains(candidate, from) || candidate.parent === undefined) return candidate;
  return holder(candidate, from);
}

/** Whether `inner` is `outer` or in it. */
function contains(outer: ChartState, inner: ChartState): boolean {
  return outer === inner || (inner.parent !== undefined && contains(outer, inner.parent));
}

function merged(arrows: readonly Arrow[]): readonly Arrow[] {
  const byEnds = new Map<string, Arrow>();
  for (const arrow of arrows) {
    const ends = `${arrow.from} ${arrow.to}`;
    const known = byEnds.get(ends);
    const labels = new Set([...(known?.label.split('<br/>') ?? []), arrow.label]);
    byEnds.set(ends, { ...arrow, label: [...labels].filter((label) => label !== '').join('<br/>') });
  }
  return [...byEnds.values()];
}

function labelOf(move: ChartMove): string {
  const guard = move.guard === undefined ? '' : `[${move.guard}]`;
  const text = [move.event === '' && guard === '' ? 'always' : move.event, guard]
    .filter((part) => part !== '')
    .join(' ');
  // A colon or semicolon ends a Mermaid label, and a hash begins an entity.
  return text.replaceAll(/[:;#"]/g, ' ');
}

function idOf(state: ChartState): string {
  return state.path.map((key) => key.replaceAll(/\W/g, '_')).join('__');
}

function anyId(state: ChartState): string {
  return state.path.length === 0 ? 'any__' : `${idOf(state)}__any__`;
}
