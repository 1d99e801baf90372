/** What a check of one server comes to. JSON: what `doctor --json` prints, without the place. */
import type { ConfigPlace } from '../../config/index.ts';
import type { AuthState, Era, Failure, ServerState, TransportKind } from '../../index.ts';

/** `right`: it works. `mend`: something has to be done. `off`: it is switched off. `unchecked`: the check was ended before. */
export type Verdict = 'right' | 'mend' | 'off' | 'unchecked';

/** A tool the model is not shown, and why. */
export interface MissingTool {
  readonly tool: string;
  readonly reason: string;
  readonly message: string;
}

/** How one server is. */
export interface ServerCheck {
  readonly server: string;
  readonly verdict: Verdict;
  /** What is right, or what is wrong and how to mend it: one sentence or two. */
  readonly message: string;
  /** What else may help, or is worth knowing. */
  readonly hints: readonly string[];
  readonly state?: ServerState;
  readonly error?: Failure;
  readonly transport?: TransportKind;
  readonly era?: Era;
  readonly protocolVersion?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly auth?: AuthState;
  /** From the start to the first answer that told how it is, in milliseconds. */
  readonly tookMs?: number;
  readonly tools?: {
    /** As the server listed them. */
    readonly listed: number;
    /** Shown to the model. */
    readonly shown: number;
    readonly missing: readonly MissingTool[];
  };
}

/** One server, what it came to, and where it stands. */
export type PlacedCheck = ServerCheck & Partial<ConfigPlace>;

/** Takes the name of the server off a message that is shown beside it. */
export function withoutName(message: string, server: string): string {
  const start = `Server "${server}"`;
  if (!message.startsWith(start)) return message;
  const rest = message.slice(start.length).replace(/^ in "[^"]*"/, '');
  const said = rest.startsWith(': ') ? rest.slice(2) : undefined;
  return said === undefined ? message : `${said.slice(0, 1).toUpperCase()}${said.slice(1)}`;
}
