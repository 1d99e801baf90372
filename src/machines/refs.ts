/** Typed looks at actors found by id: each guard names the machine it checks for. */
import type { AnyActorRef } from 'xstate';
import type { CallActorRef } from './call.ts';
import type { ConnectionActorRef } from './connection.ts';
import type { RouterActorRef } from './router.ts';
import type { RuntimeActorRef } from './runtime.ts';
import type { StepActorRef } from './step.ts';

export function isCall(ref: AnyActorRef | undefined): ref is CallActorRef {
  return runs(ref, 'call');
}

export function isConnection(ref: AnyActorRef | undefined): ref is ConnectionActorRef {
  return runs(ref, 'connection');
}

export function isRouter(ref: AnyActorRef | undefined): ref is RouterActorRef {
  return runs(ref, 'router');
}

export function isRuntime(ref: AnyActorRef | undefined): ref is RuntimeActorRef {
  return runs(ref, 'runtime');
}

export function isStep(ref: AnyActorRef | undefined): ref is StepActorRef {
  return runs(ref, 'step');
}

interface MaybeMachineSnapshot {
  readonly machine?: { readonly id: string };
}

function runs(ref: AnyActorRef | undefined, machine: string): boolean {
  return (ref?.getSnapshot() as MaybeMachineSnapshot | undefined)?.machine?.id === machine;
}
