/** `holdfast/machines`: the statecharts, pure. Their slots are filled by Holdfast; fill them yourself to test or explore. */
export { callMachine } from './call.ts';
export type { CallActorRef } from './call.ts';
export { maxRounds } from './call-context.ts';
export type {
  BecameTaskEvent,
  CallContext,
  CallEnding,
  CallEvent,
  CallInput,
  CallOutput,
  Round,
  WaitingEntry,
} from './call-context.ts';
export { backoffMs, connectionMachine, healthyMs } from './connection.ts';
export type {
  ConnectionActorRef,
  ConnectionContext,
  ConnectionEvent,
  ConnectionInput,
  OpenedFacts,
} from './connection.ts';
export { elicitationMachine } from './elicitation.ts';
export type {
  Decision,
  ElicitationActorRef,
  ElicitationContext,
  ElicitationEvent,
  QuestionSettledEvent,
} from './elicitation.ts';
export { createFleet, fleetChildren } from './fleet.ts';
export type {
  FleetDrainedEvent,
  FleetEvent,
  FleetLogic,
  FleetSettledEvent,
  FleetSnapshot,
  AnyActorSystem,
} from './fleet.ts';
export type { DeadlineInput, DeadlinePassedEvent } from './not-provided.ts';
export { outcomeOf, routerMachine } from './router.ts';
export type { RouterActorRef, RouterContext, RouterEvent, RouterInput, SettledToken } from './router.ts';
export { runtimeMachine } from './runtime.ts';
export type {
  RuntimeActorRef,
  RuntimeContext,
  RuntimeEvent,
  RuntimeInput,
  RuntimeReport,
  RuntimeServer,
} from './runtime.ts';
export { stepMachine } from './step.ts';
export type { StepActorRef, StepContext, StepEvent, StepInput, StepOutput } from './step.ts';
export { taskMachine } from './task.ts';
export type { TaskActorRef, TaskErrand } from './task.ts';
export type { AskedEntry, TaskContext, TaskEvent, TaskInput, TaskSeenEvent } from './task-context.ts';
export type { TaskEnd, TaskRecord, TaskStatus, TaskStyle } from '../domain/task.ts';
export { runtimeId, stepSystemId, threadMachine } from './thread.ts';
export type { ThreadActorRef, ThreadContext, ThreadEvent as ThreadMachineEvent, ThreadInput } from './thread.ts';
export type { Asker, Question, Settlement } from '../domain/question.ts';
