/** Looking an actor up by its systemId: the one place where XState's untyped answer is named. */
import type { AnyActorRef } from 'xstate';

/** An actor of the system by its systemId. */
export function actorOf(system: { get(id: string): unknown }, id: string): AnyActorRef | undefined {
  return system.get(id) as AnyActorRef | undefined;
}
