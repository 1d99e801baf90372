/** A scripted server as a child process. */
import type { StdioServer } from '../../domain/config.ts';
import { childProgram } from './child-program.ts';
import type { ServerScript } from './script.ts';

/**
 * Makes the configuration that starts a scripted server as a child over stdio.
 *
 * The child has the same tools as any scripted server; `release` and `awaitParked` reach a parked call from another call,
 * and the script's `journalFile` tells what happened in it, after its end too.
 */
export function stdioServerConfig(script: ServerScript = {}): StdioServer {
  return { command: process.execPath, args: [childProgram(), JSON.stringify(script)] };
}
