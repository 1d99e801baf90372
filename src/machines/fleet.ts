/**
 * A supervisor of many children of one kind: the calls of a step, the steps of a thread, the questions of a connection.
 *
 * Owns its children. XState's own `spawnChild` costs more the more siblings there are; a fleet does not (DESIGN §2, rule 5).
 * Receives `fleet.spawn`, `fleet.send`, `fleet.drain`; tells its parent `fleet.settled` for each child that ends and
 * `fleet.drained` once after a drain, when the last child is gone.
 *
 * - F1 A finished child is dropped at once: neither memory nor the persisted snapshot keeps it.
 * - F2 A child that errors is dropped like one that ends, and told with its failure; siblings are not disturbed.
 * - F3 After `fleet.drain` nothing is spawned.
 */
import { createActor } from 'xstate';
import type {
  ActorLogic,
  ActorScope,
  ActorSystem,
  ActorSystemInfo,
  AnyActorLogic,
  AnyActorRef,
  AnyEventObject,
  EventObject,
  Snapshot,
} from 'xstate';

/** What a fleet is told. */
export type FleetEvent =
  | { readonly type: 'fleet.spawn'; readonly id: string; readonly systemId?: string; readonly input: unknown }
  | { readonly type: 'fleet.send'; readonly id: string; readonly event: EventObject }
  | { readonly type: 'fleet.drain'; readonly event: EventObject };

/** A child of a fleet has ended. */
export interface FleetSettledEvent {
  readonly type: 'fleet.settled';
  /** The id of the fleet. */
  readonly fleet: string;
  readonly child: string;
  readonly output?: unknown;
  readonly error?: unknown;
}

/** The last child of a draining fleet is gone. */
export interface FleetDrainedEvent {
  readonly type: 'fleet.drained';
  readonly fleet: string;
}

/** The snapshot of a fleet. `children` is the live table: read it, never keep or change it. */
export type FleetSnapshot = Snapshot<undefined> & {
  readonly draining: boolean;
  readonly children: Readonly<Record<string, AnyActorRef>>;
};

type LiveFleet = Snapshot<undefined> & {
  draining: boolean;
  size: number;
  readonly children: Record<string, AnyActorRef>;
};

type PersistableRef = AnyActorRef & { getPersistedSnapshot(options?: unknown): Snapshot<unknown> };

interface PersistedChild {
  readonly systemId?: string;
  readonly snapshot: Snapshot<unknown>;
}

/** The logic of a fleet. */
export type FleetLogic = ActorLogic<FleetSnapshot, FleetEvent, undefined, AnyActorSystem>;
/** XState's actor system, whatever is in it. */
export type AnyActorSystem = ActorSystem<ActorSystemInfo>;
type Scope = ActorScope<FleetSnapshot, FleetEvent, AnyActorSystem>;

const donePrefix = 'xstate.done.actor.';
const errorPrefix = 'xstate.error.actor.';

/** Makes the logic of a fleet whose children all run `child`. `notify: false` keeps settled children from its parent. */
export function createFleet(child: AnyActorLogic, options: { readonly notify?: boolean } = {}): FleetLogic {
  const notify = options.notify ?? true;

  function spawn(fleet: LiveFleet, event: Extract<FleetEvent, { type: 'fleet.spawn' }>, scope: Scope): void {
    if (fleet.draining || fleet.children[event.id] !== undefined) return;
    const { id, input, systemId } = event;
    const parent = scope.self as AnyActorRef;
    const ref = createActor(child, systemId === undefined ? { parent, id, input } : { parent, id, input, systemId });
    fleet.children[event.id] = ref;
    fleet.size += 1;
    scope.defer(() => {
      ref.start();
    });
  }

  function settle(fleet: LiveFleet, id: string, event: AnyEventObject, scope: Scope): void {
    if (fleet.children[id] === undefined) return;
    delete fleet.children[id];
    fleet.size -= 1;
    if (notify)
      tell(scope, {
        type: 'fleet.settled',
        fleet: scope.id,
        child: id,
        output: event['output'],
        error: event['error'],
      });
    if (fleet.draining && fleet.size === 0) tell(scope, { type: 'fleet.drained', fleet: scope.id });
  }

  return {
    transition(snapshot, received, scope) {
      const fleet = snapshot as LiveFleet;
      const event: AnyEventObject = received;
      switch (event.type) {
        case 'fleet.spawn':
          spawn(fleet, event as Extract<FleetEvent, { type: 'fleet.spawn' }>, scope);
          return fleet;
        case 'fleet.send': {
          const target = fleet.children[String(event['id'])];
          if (target !== undefined) relay(scope, target, event['event'] as EventObject);
          return fleet;
        }
        case 'fleet.drain': {
          fleet.draining = true;
          const targets = Object.values(fleet.children);
          for (const target of targets) relay(scope, target, event['event'] as EventObject);
          if (targets.length === 0) tell(scope, { type: 'fleet.drained', fleet: scope.id });
          return fleet;
        }
        case 'xstate.stop':
          for (const ref of Object.values(fleet.children)) scope.stopChild(ref);
          return stopped(fleet);
      }
      if (event.type.startsWith(donePrefix)) settle(fleet, event.type.slice(donePrefix.length), event, scope);
      else if (event.type.startsWith(errorPrefix)) settle(fleet, event.type.slice(errorPrefix.length), event, scope);
      return fleet;
    },
    getInitialSnapshot(): FleetSnapshot {
      return empty();
    },
    getPersistedSnapshot(snapshot, persistOptions) {
      const children: Record<string, PersistedChild> = {};
      for (const [id, ref] of Object.entries(snapshot.children)) {
        const systemId = systemIdOf(ref);
        children[id] = {
          snapshot: (ref as PersistableRef).getPersistedSnapshot(persistOptions),
          ...(systemId === undefined ? {} : { systemId }),
        };
      }
      return {
        status: snapshot.status,
        output: undefined,
        error: undefined,
        draining: snapshot.draining,
        children,
      } as unknown as Snapshot<unknown>;
    },
    restoreSnapshot(persisted, scope) {
      const fleet = empty();
      const saved = persisted as unknown as { draining?: boolean; children?: Record<string, PersistedChild> };
      fleet.draining = saved.draining ?? false;
      for (const [id, { snapshot, systemId }] of Object.entries(saved.children ?? {})) {
        fleet.children[id] = createActor(child, {
          parent: scope.self as AnyActorRef,
          id,
          snapshot,
          ...(systemId === undefined ? {} : { systemId }),
        });
        fleet.size += 1;
      }
      return fleet;
    },
    start(snapshot, scope) {
      for (const ref of Object.values(snapshot.children)) {
        scope.defer(() => {
          ref.start();
        });
      }
    },
  };
}

/** The refs a fleet has now. */
export function fleetChildren(ref: AnyActorRef | undefined): readonly AnyActorRef[] {
  if (ref === undefined) return [];
  const snapshot = ref.getSnapshot() as Partial<FleetSnapshot>;
  return Object.values(snapshot.children ?? {});
}

function empty(): LiveFleet {
  return { status: 'active', output: undefined, error: undefined, draining: false, size: 0, children: {} };
}

function stopped(fleet: LiveFleet): FleetSnapshot {
  return { status: 'stopped', output: undefined, error: undefined, draining: fleet.draining, children: {} };
}

function tell(scope: Scope, event: FleetSettledEvent | FleetDrainedEvent): void {
  const parent = parentOf(scope.self as AnyActorRef);
  if (parent !== undefined) relay(scope, parent, event);
}

function relay(scope: Scope, target: AnyActorRef, event: EventObject): void {
  scope.defer(() => {
    relayOf(scope.system)._relay(scope.self as AnyActorRef, target, event);
  });
}

interface Relay {
  _relay(source: AnyActorRef, target: AnyActorRef, event: EventObject): void;
}

/** Sends with the sender's name, as XState's own `sendTo` does, so that an inspector can draw the arrow. */
function relayOf(system: unknown): Relay {
  return system as Relay;
}

/** The parent of an actor: XState keeps it, but does not name it in its types. */
function parentOf(ref: AnyActorRef): AnyActorRef | undefined {
  return ref._parent;
}

function systemIdOf(ref: AnyActorRef): string | undefined {
  return (ref as unknown as { systemId?: string }).systemId;
}
