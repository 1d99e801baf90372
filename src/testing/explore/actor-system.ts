/** Any actor logic as a system that `explore` can save and restore. */
import { Actor } from 'xstate';
import type { AnyActorLogic, EventFromLogic, InputFrom, Snapshot } from 'xstate';
import type { CreateSystem } from './types.ts';

/** What an explorable actor system is made of. */
export interface ActorSystemOptions<TLogic extends AnyActorLogic> {
  readonly input?: InputFrom<TLogic>;
  /** Waits until nothing more follows from an event; needed where actors work by promises. Default: at once. */
  readonly settle?: (actor: Actor<TLogic>) => Promise<void>;
}

/**
 * Makes what {@link explore} explores of an actor logic; the view is the root actor.
 *
 * Promise and callback actors start anew each time a state is restored: give the logic inert ones, and let what they
 * would report be events.
 */
export function actorSystem<TLogic extends AnyActorLogic>(
  logic: TLogic,
  options: ActorSystemOptions<TLogic> = {},
): CreateSystem<EventFromLogic<TLogic>, Actor<TLogic>> {
  return (saved) => {
    const actor = new Actor(logic, {
      ...('input' in options ? { input: options.input } : {}),
      ...(isSnapshot(saved) ? { snapshot: saved } : {}),
    });
    let failure: { readonly error: unknown } | undefined;
    actor.subscribe({
      error: (error) => {
        failure = { error };
      },
    });
    actor.start();
    const check = (): void => {
      if (failure !== undefined) throw failure.error;
    };
    return {
      view: actor,
      send: (event) => {
        actor.send(event);
        if (options.settle !== undefined) return options.settle(actor).then(check);
        check();
        return undefined;
      },
      save: () => actor.getPersistedSnapshot(),
      stop: () => {
        actor.stop();
      },
    };
  };
}

function isSnapshot(value: unknown): value is Snapshot<unknown> {
  return typeof value === 'object' && value !== null && 'status' in value;
}
