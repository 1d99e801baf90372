/** `holdfast/testing`: what tests of a host need: real servers that do as told, and time and order under control (SPEC TK-1). */
export { deferred } from './deferred.ts';
export type { Deferred } from './deferred.ts';
export { actorSystem } from './explore/actor-system.ts';
export type { ActorSystemOptions } from './explore/actor-system.ts';
export { canonicalJson } from './explore/canonical.ts';
export { describeViolation, explore } from './explore/explore.ts';
export { throwsNothing } from './explore/types.ts';
export type {
  CreateSystem,
  ExploredState,
  ExploredSystem,
  Exploration,
  ExploreOptions,
  ExploreProgress,
  Replay,
  Violation,
} from './explore/types.ts';
export { SimulatedClock } from './simulated-clock.ts';
export type { CutOptions, StatusOptions } from './servers/http-faults.ts';
export type { ServerControls } from './servers/controls.ts';
export { serveHttp } from './servers/http-server.ts';
export type { LoggedRequest, ScriptedHttpServer, ServeHttpOptions } from './servers/http-server.ts';
export { readJournal } from './servers/journal.ts';
export type { JournalEntry, JournalKind } from './servers/journal.ts';
export { rawServer } from './servers/raw-server.ts';
export type { RawHandler, RawMessage, RawServer, RawServerOptions } from './servers/raw-server.ts';
export type { ListingScript, ScriptedEra, ServerScript, StartQuestion } from './servers/script.ts';
export { scriptedServer } from './servers/scripted-server.ts';
export type { ScriptedServer, ScriptedServerOptions } from './servers/scripted-server.ts';
export { stdioServerConfig } from './servers/stdio-server.ts';
export { scriptedToolNames } from './servers/tool-names.ts';
export type { ScriptedToolName } from './servers/tool-names.ts';
export { createThreadTestModel } from './thread-test-model/thread-test-model.ts';
export { threadTestEventTypes } from './thread-test-model/machine.ts';
export type { ThreadTestEventType } from './thread-test-model/machine.ts';
export type {
  RandomWalkOptions,
  SimplePathOptions,
  ThreadTestCoverage,
  ThreadTestHost,
  ThreadTestModel,
  ThreadTestModelOptions,
  ThreadTestPath,
  ThreadTestState,
  ThreadTestStateKey,
  ThreadTestStep,
} from './thread-test-model/types.ts';
