/** Places in which servers run, and how they are started there (SPEC CA-7). */
import type { PluginAttribution } from './catalog.ts';

/** A server as its configuration says: where it runs, these are its command, its directory and its variables. */
export interface LaunchRequest {
  readonly command: string;
  readonly args: readonly string[];
  /** Values. */
  readonly env: Readonly<Record<string, string>>;
  /** Variable → name of the variable, there, that holds its value; left out if that is not set. `env` wins. */
  readonly envFrom: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The process to start on this machine, whose stdin and stdout are those of the server. */
export interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Starts servers in one environment, and reads files there. Called again for each start. */
export interface Launcher {
  /** @throws HoldfastError `server_misconfigured` for what cannot be started there. */
  launch(request: LaunchRequest): LaunchCommand;
  /** The text of a file; `undefined` if there is none. Rejects when that cannot be known. */
  readFile?(path: string, options: ReadFileOptions): Promise<string | undefined>;
  /**
   * The regular files of one name below a directory, as absolute paths; `undefined` if there is no such directory. No link
   * is followed, `directory` itself included. Without it, plugins there bring no skills.
   */
  findFiles?(directory: string, options: FindFilesOptions): Promise<readonly string[] | undefined>;
}

/** How a launcher reads a file. */
export interface ReadFileOptions {
  readonly signal: AbortSignal;
  /** The directory the file must really be in, links followed: else the reading rejects. Default: anywhere. */
  readonly within?: string;
}

/** How a launcher looks for files. */
export interface FindFilesOptions {
  readonly signal: AbortSignal;
  readonly name: string;
  /** How many levels down: 1 is the directory itself. */
  readonly depth: number;
  /** At most so many; which ones is up to the launcher. */
  readonly limit: number;
}

/** What is known of one environment. */
export type EnvironmentState =
  | { readonly kind: 'starting' }
  | {
      readonly kind: 'ready';
      /** Names this very place: another one behind the same id has another handle, and its servers start anew there. */
      readonly handle: string;
      readonly launcher: Launcher;
      /** The directory work is done in there, for the model to know. */
      readonly cwd?: string;
    }
  | { readonly kind: 'failed'; readonly reason: string };

/** Environment id → what is known of it. `local`, this machine, is always ready and need not be named. */
export type EnvironmentStates = Readonly<Record<string, EnvironmentState>>;

/** Where one server starts, or why it cannot. */
export type Place = { readonly handle: string; readonly launcher: Launcher } | { readonly problem: string };

/** A plugin in an environment whose servers, skills and connectors the thread takes while the environment is ready. */
export interface SelectedRoot {
  readonly plugin: PluginAttribution;
  /** The id of the environment it is in. */
  readonly environment: string;
  /**
   * The plugin's directory there: an absolute path. Its servers are read from `.mcp.json`, its connectors from `.app.json`,
   * its skills from the `SKILL.md` files below `skills` and in the directory itself.
   */
  readonly path: string;
  /** Among selected plugins the smaller one wins a name. Default: its position. */
  readonly order?: number;
}
