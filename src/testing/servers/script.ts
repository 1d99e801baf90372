/** What a scripted server offers and how it misbehaves: plain JSON, so that a child process can be told. */
import { HoldfastError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { isRecord } from '../../domain/json.ts';
import type { ListedTool } from '../../domain/tool.ts';
import type { ScriptedToolName } from './tool-names.ts';

/** The eras a scripted server speaks; `both` lets the client choose. */
export type ScriptedEra = 'legacy' | 'modern' | 'both';

/** How `tools/list` answers. */
export interface ListingScript {
  /** Tools a page. Default: all on one page. */
  readonly pageSize?: number;
  /** Every page names a further one, for ever. */
  readonly endless?: boolean;
  /** The second page names itself as the next. */
  readonly repeatedCursor?: boolean;
  /** Answers the first `fails` listings (or all of them, with `true`) with a JSON-RPC error. */
  readonly fails?: number | true;
  /** Never answers. */
  readonly hangs?: boolean;
}

/** A question a legacy server asks as soon as the client said `notifications/initialized`. */
export interface StartQuestion {
  /** Default `Who is there?`. */
  readonly message?: string;
  /** Default: one required text field, `name`. */
  readonly schema?: JsonObject;
}

/** The description of one scripted server. JSON. */
export interface ServerScript {
  /** The name it gives in `serverInfo`. Default `scripted`. */
  readonly name?: string;
  /** Default `1.0.0`. */
  readonly version?: string;
  readonly instructions?: string;
  /** Default `legacy`. */
  readonly era?: ScriptedEra;
  /** The built-in tools it offers, in this order. Default: all. */
  readonly tools?: readonly ScriptedToolName[];
  /** Adds so many tools named `tool-0`, `tool-1`, …; each returns its arguments as JSON. */
  readonly manyTools?: number;
  /** Listed exactly as given, ill-shaped ones too; each returns its arguments as JSON. */
  readonly extraTools?: readonly ListedTool[];
  readonly listing?: ListingScript;
  /** Modern only: how long clients may keep listings and what they read, and whether for others too. Default: not at all. */
  readonly keep?: { readonly ttlMs: number; readonly cacheScope?: 'public' | 'private' };
  /** Never answers the handshake. */
  readonly hangOnStart?: boolean;
  /** Ends before the handshake: a child exits, an in-memory server closes, an HTTP server answers 500. */
  readonly exitOnStart?: { readonly code?: number; readonly stderr?: string };
  /** Legacy only. */
  readonly askOnStart?: StartQuestion | true;
  /** Child only: lines written to stdout before the first message. */
  readonly stdoutOnStart?: readonly string[];
  /** Child only: text written to stderr at the start. */
  readonly stderrOnStart?: string;
  /** Child only: `stdin` stays when its stdin ends; `sigterm` ignores SIGTERM as well. */
  readonly stubborn?: 'stdin' | 'sigterm';
  /** A file that gets one line of JSON for every journal entry; it survives the process. See `readJournal`. */
  readonly journalFile?: string;
}

/**
 * Reads the script a child process gets as its argument.
 *
 * @throws HoldfastError `invalid_argument` for anything but a JSON object.
 */
export function parseScript(text: string): ServerScript {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value))
    throw new HoldfastError('invalid_argument', `Expected a server script as a JSON object, got "${text}".`);
  return value;
}
