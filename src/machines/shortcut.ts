/**
 * Runs the transitions that every actor of a kind makes without interpreting the chart for them.
 *
 * A shortcut states, for one place in a chart, what the chart itself would do there: where it goes, what it assigns,
 * which of its actions run. Everything else goes through the chart. What a shortcut states is proven equal to the chart
 * by a test that runs both (`test/machines/shortcut.test.ts`); the chart stays the only description of the behaviour.
 *
 * - S1 With and without shortcuts, an actor has the same snapshots and runs the same actions in the same order.
 */
import type {
  ActorScope,
  ActorSystem,
  ActorSystemInfo,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  StateValue,
} from 'xstate';

/** What the chart does in one place. */
export interface Shortcut<TContext> {
  /** The same object each time: a snapshot is prepared for each value. */
  readonly value: StateValue;
  readonly status: 'active' | 'done';
  readonly context: TContext;
  readonly output?: unknown;
  /** Names of the machine's actions, in order. */
  readonly actions: readonly ShortcutAction[];
}

export interface ShortcutAction {
  readonly type: string;
  readonly params?: unknown;
  /** An exit action: it is given the context from before the transition. */
  readonly leaves?: true;
}

export interface Shortcuts<TInput, TContext, TEvent> {
  /** Where a new actor is after its first macrostep, if that can be said from its input alone. */
  start(input: TInput): Shortcut<TContext> | undefined;
  /** Where an event takes it, if that can be said from context and event alone. */
  step(value: StateValue, context: TContext, event: TEvent): Shortcut<TContext> | undefined;
}

type Scope = ActorScope<AnyMachineSnapshot, AnyEventObject, ActorSystem<ActorSystemInfo>>;
/** The parts of a snapshot that are looked at here, named. */
interface Placed {
  readonly value: StateValue;
  readonly children: Record<string, unknown>;
}

type Implementation = (
  args: { context: unknown; event: unknown; self: unknown; system: unknown },
  params: unknown,
) => void;

/** The same machine, faster where `shortcuts` speak. Apply it after `provide`. */
export function withShortcuts<TMachine extends AnyStateMachine, TInput, TContext, TEvent>(
  machine: TMachine,
  shortcuts: Shortcuts<TInput, TContext, TEvent>,
): TMachine {
  const templates = new Map<StateValue, AnyMachineSnapshot>();
  const implementations = machine.implementations.actions as Record<string, Implementation>;

  function templateOf(shortcut: Shortcut<TContext>): AnyMachineSnapshot {
    let template = templates.get(shortcut.value);
    if (template === undefined) {
      template = {
        ...machine.resolveState({ value: shortcut.value, context: {}, status: shortcut.status }),
        error: undefined,
      } as AnyMachineSnapshot;
      templates.set(shortcut.value, template);
    }
    return template;
  }

  function take(
    shortcut: Shortcut<TContext>,
    event: unknown,
    scope: Scope,
    before: AnyMachineSnapshot,
  ): AnyMachineSnapshot {
    const { context } = shortcut;
    const { children } = before as Placed;
    for (const { type, params, leaves } of shortcut.actions) {
      const seen: unknown = leaves === true ? before.context : context;
      implementations[type]?.({ context: seen, event, self: scope.self, system: scope.system }, params);
    }
    return { ...templateOf(shortcut), context, children, output: shortcut.output } as AnyMachineSnapshot;
  }

  return Object.assign(Object.create(machine) as TMachine, {
    getInitialSnapshot(scope: Scope, input: TInput): AnyMachineSnapshot {
      const shortcut = shortcuts.start(input);
      if (shortcut === undefined)
        return machine.getInitialSnapshot(scope as never, input as never) as AnyMachineSnapshot;
      // Actions of a first macrostep run when the actor starts, never while it is made.
      scope.defer(() => {
        for (const { type, params } of shortcut.actions) {
          implementations[type]?.(
            {
              context: shortcut.context,
              event: { type: 'xstate.init', input },
              self: scope.self,
              system: scope.system,
            },
            params,
          );
        }
      });
      return { ...templateOf(shortcut), context: shortcut.context, children: {} } as AnyMachineSnapshot;
    },
    transition(snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: Scope): AnyMachineSnapshot {
      if (snapshot.status === 'active') {
        const shortcut = shortcuts.step((snapshot as Placed).value, snapshot.context as TContext, event as TEvent);
        if (shortcut !== undefined) return take(shortcut, event, scope, snapshot);
      }
      return machine.transition(snapshot, event, scope as never) as AnyMachineSnapshot;
    },
  });
}
