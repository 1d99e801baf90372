/**
 * Which states and transitions of the machines were reached: what the charts have, against what an inspector saw.
 *
 * A transition is named by its state, its event and its place among the transitions of both: `call#onWire.running on
 * call.resend (2 of 2)`.
 */
import type { AnyStateMachine, AnyStateNode, InspectionEvent } from 'xstate';

type Transition = NonNullable<AnyStateNode['always']>[number];

interface Seen {
  readonly actorRef: unknown;
  readonly snapshot?: unknown;
  readonly _transitions?: readonly Transition[];
}

/** Records what it is shown as an XState inspector, and tells what is missing. */
export class MachineCoverage {
  readonly states = new Set<string>();
  readonly transitions = new Set<string>();
  readonly #reached = new Set<string>();

  constructor(machines: readonly AnyStateMachine[]) {
    for (const machine of machines) this.#add(machine.root);
  }

  /** Give it as `inspect`. Actors with shortcuts show no transitions where these are taken. */
  readonly inspect = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep' && event.type !== '@xstate.snapshot') return;
    const { snapshot, _transitions = [] } = event as Seen;
    for (const node of nodesOf(snapshot)) this.#reached.add(nameOfState(node));
    for (const transition of _transitions) {
      // A state that is left in the step it is entered in shows only in what leaves it.
      this.#reached.add(nameOfState(transition.source));
      const name = nameOfTransition(transition);
      if (name !== undefined) this.#reached.add(name);
    }
  };

  has(name: string): boolean {
    return this.#reached.has(name);
  }

  /** States and transitions no actor came to or took. */
  get missing(): readonly string[] {
    return [...this.states, ...this.transitions].filter((name) => !this.#reached.has(name));
  }

  #add(node: AnyStateNode): void {
    this.states.add(nameOfState(node));
    for (const transition of transitionsOf(node)) {
      const name = nameOfTransition(transition);
      if (name !== undefined) this.transitions.add(name);
    }
    for (const child of Object.values(node.states)) this.#add(child);
  }
}

function nameOfState(node: AnyStateNode): string {
  return node.path.length === 0 ? node.machine.id : `${node.machine.id}#${node.path.join('.')}`;
}

/** `undefined` for a first transition into an initial state, which its state stands for. */
function nameOfTransition(transition: Transition): string | undefined {
  const { source } = transition;
  const eventType = String(transition.eventType);
  const siblings = eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  const index = siblings.indexOf(transition);
  if (index === -1) return undefined;
  const place = siblings.length === 1 ? '' : ` (${String(index + 1)} of ${String(siblings.length)})`;
  return `${nameOfState(source)} ${eventType === '' ? 'always' : `on ${eventType}`}${place}`;
}

/** Events a state forbids have no transition to take. */
function transitionsOf(node: AnyStateNode): readonly Transition[] {
  const all = [...node.transitions.values()].flat().concat(node.always ?? []);
  return all.filter((transition) => transition.eventType === '' || !isForbidden(node, transition));
}

function isForbidden(node: AnyStateNode, { eventType }: Transition): boolean {
  const config: unknown = node.config.on;
  return (
    typeof config === 'object' && config !== null && eventType in config && Reflect.get(config, eventType) === undefined
  );
}

function nodesOf(snapshot: unknown): readonly AnyStateNode[] {
  if (typeof snapshot !== 'object' || snapshot === null || !('_nodes' in snapshot)) return [];
  return snapshot._nodes as readonly AnyStateNode[];
}
