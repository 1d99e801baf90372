/** The configuration of a command: the files it names, or those found in the directory it runs in. */
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { statSync } from 'node:fs';
import { type ApprovalMode, HoldfastError, type Policy, type Root } from '../index.ts';
import { type CommandRunner, findConfig, readConfig, type ResolvedConfig } from '../config/index.ts';
import { UsageError } from './usage-error.ts';

/** A configuration, and what became of files that were found but could not be read. */
export interface LoadedConfig {
  readonly config: ResolvedConfig;
  /** Found, not named, and unreadable: told, and left out. */
  readonly unreadable: readonly HoldfastError[];
}

/**
 * Reads the files that are named; without any, `holdfast.json` and `.mcp.json` of the directory.
 *
 * @throws UsageError when a file that was named cannot be read: nothing should start on half of what was asked for.
 */
export async function loadConfig(
  named: readonly string[],
  directory: string,
  runCommand: CommandRunner,
): Promise<LoadedConfig> {
  if (named.length > 0) {
    const files = named.map((file) => resolve(directory, file));
    try {
      return { config: await readConfig(files, { runCommand }), unreadable: [] };
    } catch (error) {
      throw error instanceof HoldfastError ? new UsageError(error.message) : error;
    }
  }
  const readable: string[] = [];
  const unreadable: HoldfastError[] = [];
  for (const file of await findConfig(directory)) {
    try {
      await readConfig([file]);
      readable.push(file);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      unreadable.push(error);
    }
  }
  return { config: await readConfig(readable, { runCommand }), unreadable };
}

/** Puts the mode of the command line over the file's. */
export function withApproval(policy: Policy | undefined, approval: ApprovalMode | undefined): Policy | undefined {
  return approval === undefined ? policy : { ...policy, approvalOverride: approval };
}

/**
 * The directories of `--root`.
 *
 * @throws UsageError for what is no directory.
 */
export function rootsOf(directories: readonly string[]): readonly Root[] {
  return directories.map((directory) => {
    const path = resolve(directory);
    if (!isDirectory(path)) throw new UsageError(`Expected "--root" to name a directory, got "${directory}".`);
    return { uri: pathToFileURL(path).href };
  });
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whatever keeps it from being looked at, it is no directory to work in.
    return false;
  }
}
