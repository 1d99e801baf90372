/** Resources as a thread gives them: how they are asked for, listed with their server, read and checked (SPEC RE-1). */
import type { Failure } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

/** A resource, as its server listed it. */
export interface ListedResource extends JsonObject {
  readonly uri: string;
  readonly name: string;
}

/** A template of resources, as its server listed it. */
export interface ListedResourceTemplate extends JsonObject {
  readonly uriTemplate: string;
  readonly name: string;
}

/** One page of a listing of one server. */
export interface ResourcePage<TItem> {
  readonly items: readonly TItem[];
  readonly nextCursor?: string;
}

/** An item, and the raw name of the server it is from. */
export interface FromServer<TItem> {
  readonly server: string;
  readonly item: TItem;
}

/** What the servers have, as far as it could be had: one that fails hides nothing of the others. */
export interface ResourceListing<TItem> {
  readonly items: readonly FromServer<TItem>[];
  /** Raw name of a server → why nothing of it is among the items. */
  readonly failures: Readonly<Record<string, Failure>>;
}

/** One part of what was read: `text` or `blob` (base64), never both. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly [key: string]: Json | undefined;
}

/** What was read. */
export interface ResourceReadResult extends JsonObject {
  readonly contents: readonly ResourceContents[];
}

/** What bounds a request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** How what a server lets be kept is asked for. */
export interface ReadOptions extends RequestOptions {
  /** Ask the server, although what it said before still counts (`ttlMs` of the modern era). Default false. */
  readonly fresh?: boolean;
}

/** How a listing is read. */
export interface ListOptions extends ReadOptions {
  readonly cursor?: string;
  /** Follow every page, within SPEC CN-4. Default false. */
  readonly all?: boolean;
}

/** What bounds a listing of all servers. */
export interface ListAllOptions {
  /** Raw names. Default: every server of the current runtime. */
  readonly servers?: readonly string[];
  /** How long each server may take. Default 10,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The resources of a thread, always of the runtime that is current when something is asked. */
export interface ResourceClient {
  /**
   * The same as long as the same runtime is current, another after each publication, and never that of another thread. What
   * was made of resources under one key need not be looked at again under the same.
   */
  readonly cacheKey: string;
  /** Whether the current runtime has the server; says nothing of its state. */
  has(server: string): boolean;
  list(server: string, options?: ListOptions): Promise<ResourcePage<ListedResource>>;
  listTemplates(server: string, options?: ListOptions): Promise<ResourcePage<ListedResourceTemplate>>;
  /** All pages of all servers. One that fails, or takes too long, is among the failures and hides nothing. */
  listAll(options?: ListAllOptions): Promise<ResourceListing<ListedResource>>;
  listAllTemplates(options?: ListAllOptions): Promise<ResourceListing<ListedResourceTemplate>>;
  read(server: string, uri: string, options?: ReadOptions): Promise<ResourceReadResult>;
}
