/** What a built-in tool of a scripted server is made of. */
import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server';
import { isRecord } from '../../domain/json.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Era } from '../../domain/snapshot.ts';
import type { ToolAnnotations } from '../../domain/tool.ts';
import type { Stage } from './stage.ts';

/** How the server is served: what a tool can do to its own carrier. */
export interface Carrier {
  readonly kind: 'in-memory' | 'child' | 'http';
  /** Ends the process, or every connection, at once. */
  crash(code: number): void;
}

/** One call as a tool sees it. */
export interface ScriptedCall {
  readonly args: ScriptedArgs;
  /** Everything the call was made with. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly ctx: ServerContext;
  readonly era: Era;
  readonly stage: Stage;
  readonly carrier: Carrier;
  readonly server: McpServer;
  /** Its number in the journal. */
  readonly number: number;
  /** Sends what `replace` makes of the result instead of it, unchecked by the SDK. */
  readonly replaceResult: (replace: (result: Readonly<Record<string, unknown>>) => unknown) => void;
}

export type ScriptedResult = CallToolResult | InputRequiredResult;

export interface ScriptedTool {
  readonly description: string;
  /** JSON schema `properties` of the arguments. */
  readonly properties?: JsonObject;
  readonly required?: readonly string[];
  readonly annotations?: ToolAnnotations;
  /** Legacy: whether it may be called as a task. */
  readonly taskSupport?: 'required';
  run(call: ScriptedCall): ScriptedResult | Promise<ScriptedResult>;
}

/** A result of one text. */
export function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] };
}

/** A result of one text that is JSON. */
export function json(value: unknown): CallToolResult {
  return text(value === undefined ? 'null' : JSON.stringify(value));
}

/** A result that says the tool went wrong. */
export function failure(message: string): CallToolResult {
  return { ...text(message), isError: true };
}

/** Reads arguments by type. One that is absent or of another type counts as its default. */
export class ScriptedArgs {
  readonly all: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    this.all = isRecord(value) ? value : {};
  }

  string(name: string, fallback: string): string {
    const value = this.all[name];
    return typeof value === 'string' ? value : fallback;
  }

  number(name: string, fallback: number): number {
    const value = this.all[name];
    return typeof value === 'number' ? value : fallback;
  }

  flag(name: string): boolean {
    return this.all[name] === true;
  }

  record(name: string): Record<string, unknown> | undefined {
    const value = this.all[name];
    return isRecord(value) ? value : undefined;
  }

  list(name: string): readonly unknown[] {
    const value = this.all[name];
    return Array.isArray(value) ? value.map((item: unknown) => item) : [];
  }
}

/** Resolves when the call's client gave it up; at once if it already has. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
