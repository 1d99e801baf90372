/** Resources as a thread gives them: listed with their server, read and checked (SPEC RE-1). */
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
