/** A scripted server as a child process. */
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { StdioServer } from '../../domain/config.ts';
import type { ServerScript } from './script.ts';

/**
 * Makes the configuration that starts a scripted server as a child over stdio.
 *
 * The child has the same tools as any scripted server; `release` and `awaitParked` reach a parked call from another call,
 * and the script's `journalFile` tells what happened in it, after its end too.
 */
export function stdioServerConfig(script: ServerScript = {}): StdioServer {
  return { command: process.execPath, args: [...childArguments(), JSON.stringify(script)] };
}

/** Compiled, the child runs as it is. From source, Node 20 needs a loader for TypeScript, which costs some 100 ms a start. */
function childArguments(): readonly string[] {
  const compiled = import.meta.url.endsWith('.js');
  const child = fileURLToPath(new URL(compiled ? './child.js' : './child.ts', import.meta.url));
  if (compiled) return [child];
  const loader = createRequire(import.meta.url).resolve('tsx/esm');
  return ['--import', pathToFileURL(loader).href, child];
}
