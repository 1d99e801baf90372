/** The names of the tools every scripted server can offer. */

/** In the order they are listed in. What each does is in the tables of `*-tools.ts`. */
export const scriptedToolNames = [
  'echo',
  'readOnly',
  'destructive',
  'idempotent',
  'count',
  'slow',
  'hang',
  'park',
  'awaitParked',
  'release',
  'ask',
  'askUrl',
  'requireUrl',
  'complete',
  'sample',
  'roots',
  'task',
  'progress',
  'log',
  'addTool',
  'removeTool',
  'updateResource',
  'fail',
  'throwError',
  'badResult',
  'crash',
  'pid',
  'env',
  'flood',
  'fork',
] as const;

/** A tool scripted servers know. */
export type ScriptedToolName = (typeof scriptedToolNames)[number];
