/** Files that tools say they take (SPEC NM-6). */
import type { Json } from './json.ts';

/** A file a model named for a parameter of a tool. */
export interface DeclaredFile {
  /** As the model gave it: check it before you read it. */
  readonly path: string;
  /** The raw name of the server that gets what you return. */
  readonly server: string;
  /** The raw name of the tool. */
  readonly tool: string;
  readonly parameter: string;
}

/**
 * Gives what a server gets in the place of a path: the file's content, or what stands for it. Called for servers in
 * `policy.trust` only, after the call is approved and before it is sent; throwing keeps it from being sent.
 */
export type FileProvider = (file: DeclaredFile, options: { readonly signal: AbortSignal }) => Promise<Json> | Json;
