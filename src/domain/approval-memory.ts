/** What a person approved before, and whether that still stands (SPEC PO-2, PO-3). */
import type { JsonObject } from './json.ts';
import type { ToolAnnotations, ToolInfo } from './tool.ts';

/** The values of `remember` in the answer to an approval. */
export const rememberChoices = ['once', 'session', 'always'] as const;
/** How long an approval holds: for this call, for the life of its thread, or until the tool changes. */
export type RememberChoice = (typeof rememberChoices)[number];

/** A tool as the person was shown it when they approved it. JSON. */
export interface ApprovedTool {
  /** The raw name. */
  readonly name: string;
  /** SHA-256 of the whole definition (SPEC NM-5): another one is another tool. */
  readonly fingerprint: string;
  /** Where its server was reached; the same tool elsewhere is another one. */
  readonly origin: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: ToolAnnotations;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
}

/** An approval as it is kept. JSON. */
export interface RememberedApproval {
  /** `once` answers no later call: it says what the person saw last. */
  readonly remember: RememberChoice;
  readonly tool: ApprovedTool;
}

/** Whose approval it is: a person's, in every thread that shares the memory, or one thread's. */
export type ApprovalScope = { readonly kind: 'user' } | { readonly kind: 'thread'; readonly thread: string };

/** What an approval is kept under. Raw names. */
export interface ApprovalKey {
  readonly scope: ApprovalScope;
  readonly server: string;
  readonly tool: string;
}

/**
 * Keeps approvals, of one person: give threads of different people different memories.
 *
 * One that throws or rejects is reported as a warning, and the person is asked.
 */
export interface ApprovalMemory {
  recall(key: ApprovalKey): RememberedApproval | undefined | Promise<RememberedApproval | undefined>;
  /** Takes the place of what was kept under the key. */
  keep(key: ApprovalKey, approval: RememberedApproval): void | Promise<void>;
  /** Drops all that is kept of a scope. Called with a thread's own when it is closed. */
  forget(scope: ApprovalScope): void | Promise<void>;
}

/** Makes a memory that lasts as long as the process. */
export function createApprovalMemory(): ApprovalMemory {
  const scopes = new Map<string, Map<string, RememberedApproval>>();
  return {
    recall: ({ scope, server, tool }) => scopes.get(scopeText(scope))?.get(toolKey(server, tool)),
    keep({ scope, server, tool }, approval) {
      const name = scopeText(scope);
      let kept = scopes.get(name);
      if (kept === undefined) scopes.set(name, (kept = new Map<string, RememberedApproval>()));
      kept.set(toolKey(server, tool), approval);
    },
    forget(scope) {
      scopes.delete(scopeText(scope));
    },
  };
}

/** Names a tool of a server, whatever its names contain. */
export function toolKey(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

/** What is kept of a tool that was approved. */
export function approvedTool(info: ToolInfo): ApprovedTool {
  const { tool, fingerprint, origin, title, description, annotations, inputSchema, outputSchema } = info;
  return {
    name: tool,
    fingerprint,
    origin,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(annotations === undefined ? {} : { annotations }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}

/** Tells whether a tool is the one that was approved. */
export function isSameTool(a: ApprovedTool, b: ApprovedTool): boolean {
  return a.fingerprint === b.fingerprint && a.origin === b.origin;
}

function scopeText(scope: ApprovalScope): string {
  return scope.kind === 'user' ? 'user' : `thread ${scope.thread}`;
}
