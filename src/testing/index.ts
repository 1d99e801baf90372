/** `holdfast/testing`: what tests of a host need: real servers that do as told, and time and order under control (SPEC TK-1). */
export { deferred } from './deferred.ts';
export type { Deferred } from './deferred.ts';
export { SimulatedClock } from './simulated-clock.ts';
export type { CutOptions, StatusOptions } from './servers/http-faults.ts';
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
