/** Reads a machine into the plain facts its page shows. Nothing here knows Markdown or Mermaid. */
import { StateMachine } from 'xstate';
import type { AnyStateMachine, StateNode } from 'xstate';

type Node = StateNode;
type NodeTransition = NonNullable<Node['always']>[number];

export interface ChartMove {
  readonly from: ChartState;
  /** `undefined`: the state handles the event and stays. */
  readonly to: ChartState | undefined;
  /** As a reader would say it: `call.admitted`, `decide done`, `after 5000 ms`; `''` for an eventless transition. */
  readonly event: string;
  readonly guard: string | undefined;
  /** The names the guard is made of. */
  readonly guards: readonly string[];
  readonly actions: readonly string[];
  readonly description: string | undefined;
}

export interface ChartState {
  readonly key: string;
  /** From the root, which itself has the empty path. */
  readonly path: readonly string[];
  readonly kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly description: string;
  readonly parent: ChartState | undefined;
  readonly children: readonly ChartState[];
  readonly initial: ChartState | undefined;
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  readonly tags: readonly string[];
  readonly invokes: readonly ChartInvoke[];
  readonly moves: readonly ChartMove[];
}

export interface ChartInvoke {
  readonly id: string;
  readonly source: string;
}

export interface Chart {
  readonly id: string;
  readonly root: ChartState;
  readonly sends: readonly string[];
  readonly persisted: readonly string[];
  readonly invariants: readonly string[];
}

/** Tells whether a module's export is a machine. */
export function isMachine(value: unknown): value is AnyStateMachine {
  return value instanceof StateMachine;
}

/**
 * Reads `machine`.
 *
 * @throws Error when a state, or the machine itself, has no description, or `meta` is not lists of sentences.
 */
export function readChart(machine: AnyStateMachine): Chart {
  const root: Node = machine.root;
  const states = new Map<Node, MutableState>();
  const chart = readState(root, undefined, states);
  const undescribed = [...states.values()].filter((state) => state.description.trim() === '');
  if (undescribed.length > 0) {
    const names = undescribed.map((state) => `"${statePath(state)}"`).join(', ');
    throw new Error(`Machine "${machine.id}": expected a description on every state, got none on ${names}. Add them.`);
  }
  for (const [node, state] of states) state.moves = readMoves(node, state, states);
  const meta: unknown = root.meta;
  return {
    id: machine.id,
    root: chart,
    sends: sentences(machine.id, meta, 'sends'),
    persisted: sentences(machine.id, meta, 'persisted'),
    invariants: sentences(machine.id, meta, 'invariants'),
  };
}

/** Every state of a chart, parents first, the root too. */
export function everyState(state: ChartState): readonly ChartState[] {
  return [state, ...state.children.flatMap(everyState)];
}

/** The name of a state from the root: `open.waiting`; of the root itself: `(any)`. */
export function statePath(state: ChartState): string {
  return state.path.length === 0 ? '(any)' : state.path.join('.');
}

type MutableState = { -readonly [K in keyof ChartState]: ChartState[K] };

function readState(node: Node, parent: MutableState | undefined, states: Map<Node, MutableState>): MutableState {
  const state: MutableState = {
    key: node.key,
    path: node.path,
    kind: node.type,
    description: node.description ?? '',
    parent,
    children: [],
    initial: undefined,
    entry: namesOf(node.config.entry),
    exit: namesOf(node.config.exit),
    tags: node.tags,
    invokes: node.invoke.map(({ id, src }) => ({ id, source: typeof src === 'string' ? src : 'inline' })),
    moves: [],
  };
  states.set(node, state);
  const children = Object.values(node.states).map((child) => readState(child, state, states));
  state.children = children;
  if (node.type === 'compound') state.initial = children.find((child) => child.key === node.initial.target[0]?.key);
  return state;
}

function readMoves(node: Node, from: ChartState, states: ReadonlyMap<Node, ChartState>): ChartMove[] {
  const moves = [...node.transitions.values()].flat().concat(node.always ?? []);
  return moves.flatMap((transition) => {
    const targets = transition.target ?? [undefined];
    return targets.map((target) => readMove(transition, from, target === undefined ? undefined : states.get(target)));
  });
}

function readMove(transition: NodeTransition, from: ChartState, to: ChartState | undefined): ChartMove {
  return {
    from,
    to,
    event: eventName(transition.eventType),
    guard: guardName(transition.guard),
    guards: guardLeaves(transition.guard),
    actions: namesOf(transition.actions),
    description: transition.description,
  };
}

const eventNames: readonly (readonly [RegExp, (rest: string) => string])[] = [
  [/^xstate\.done\.actor\.(.+)$/, (id) => `${anyChild(id)} done`],
  [/^xstate\.error\.actor\.(.+)$/, (id) => `${anyChild(id)} failed`],
  [/^xstate\.snapshot\.(.+)$/, (id) => `${anyChild(id)} changed`],
  [/^xstate\.done\.state\.(.+)$/, (id) => `${id.split('.').at(-1) ?? id} finished`],
  [/^xstate\.after\.(\d+)\..*$/, (ms) => `after ${ms} ms`],
  [/^xstate\.after\.([^.]+)\..*$/, (delay) => `after ${delay}`],
  [/^(\*)$/, () => 'any other event'],
];

function eventName(type: string): string {
  for (const [pattern, name] of eventNames) {
    const match = pattern.exec(type);
    if (match !== null) return name(match[1] ?? '');
  }
  return type;
}

function anyChild(id: string): string {
  return id === '*' ? 'any child' : id;
}

function guardName(guard: unknown): string | undefined {
  if (guard === undefined) return undefined;
  const parts = partsOf(guard);
  if (parts === undefined) return leafName(guard);
  const inner = parts.map((part) => {
    const name = guardName(part) ?? 'condition';
    return / (and|or) /.test(name) ? `(${name})` : name;
  });
  const operator = typeof guard === 'function' ? guard.name : 'and';
  return operator === 'not' ? `not ${inner.join(' ')}` : inner.join(` ${operator} `);
}

function guardLeaves(guard: unknown): readonly string[] {
  if (guard === undefined) return [];
  return partsOf(guard)?.flatMap(guardLeaves) ?? [leafName(guard)];
}

/** `and`, `or` and `not` are functions that carry their parts. */
function partsOf(guard: unknown): readonly unknown[] | undefined {
  const parts: unknown = typeof guard === 'function' ? Reflect.get(guard, 'guards') : undefined;
  return Array.isArray(parts) ? parts : undefined;
}

function leafName(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  const type: unknown = typeof guard === 'object' && guard !== null ? Reflect.get(guard, 'type') : undefined;
  return typeof type === 'string' ? type : 'condition';
}

/** The names of actions: slots by their key, XState's own by what they are, inline ones as such. */
function namesOf(actions: unknown): readonly string[] {
  if (actions === undefined || actions === null) return [];
  const list: readonly unknown[] = Array.isArray(actions) ? actions : [actions];
  return list.map((action) => {
    if (typeof action === 'string') return action;
    const type: unknown =
      typeof action === 'function' || (typeof action === 'object' && action !== null)
        ? Reflect.get(action, 'type')
        : undefined;
    return typeof type === 'string' ? type.replace(/^xstate\./, '') : 'inline';
  });
}

function sentences(id: string, meta: unknown, key: string): readonly string[] {
  const value: unknown = typeof meta === 'object' && meta !== null ? Reflect.get(meta, key) : undefined;
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value;
  throw new Error(`Machine "${id}": expected meta.${key} to be a list of sentences, got ${typeof value}. Change it.`);
}
