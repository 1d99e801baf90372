/** Tools as servers list them, as steps advertise them, and what a call brings back. */
import type { ConnectorAttribution, PluginAttribution } from './catalog.ts';
import type { JsonObject } from './json.ts';

/** The hints a server gives about a tool (MCP `ToolAnnotations`). Hints, never proof. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A tool exactly as its server listed it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** How it may be called: `taskSupport` of 2025-11-25 says whether as a task. */
  readonly execution?: JsonObject;
  readonly _meta?: JsonObject;
}

/** A tool a step advertises: the name the model sees, and where a call of it goes. */
export interface ToolInfo extends ListedTool {
  /** The name shown to the model: `^[A-Za-z0-9_-]{1,64}$`, unique in its step (SPEC NM-1). */
  readonly name: string;
  /** The raw name of the server. */
  readonly server: string;
  /** The raw name of the tool: what goes to the server. */
  readonly tool: string;
  /** What runs (`stdio: node server.js …`), `in-memory`, `given`, or the origin of the url. Without secrets. */
  readonly origin: string;
  /** The plugin its server came from. */
  readonly plugin?: PluginAttribution;
  /** The connector its server stands for. */
  readonly connector?: ConnectorAttribution;
  /** The environment its server runs in; `local` when none is set. */
  readonly environment?: string;
  /** SHA-256 (hex) of name, description, schemas and annotations (SPEC NM-5). */
  readonly fingerprint: string;
}

/** One part of a tool's result, as MCP defines it: text, image, audio, resource, resource_link. */
export interface ContentBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** What a tool returned. `isError: true` is a value, never an exception. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** Progress of one call, as its server reports it. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}
