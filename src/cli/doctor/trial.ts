/** One server, started alone and looked at, and nothing left of it. */
import type { ServerConfig, ServerSnapshot, Thread, ThreadOptions, WarningEvent } from '../../index.ts';
import { deferred } from '../values.ts';

/** What a trial is made with. */
export interface TrialOptions {
  readonly createThread: (options: ThreadOptions) => Thread;
  readonly secrets: readonly string[];
  readonly roots?: ThreadOptions['roots'];
  /** How long the server may take to start. */
  readonly startTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a server is, with its tools and why some are not shown. */
export type SeenServer = Awaited<ReturnType<Thread['status']>>['servers'][number];

/** What was seen. */
export interface Trial {
  /** Absent when the check was ended before the server said how it is. */
  readonly server?: ServerSnapshot;
  readonly warnings: readonly WarningEvent[];
  /** Absent unless it is up. */
  readonly status?: SeenServer;
  readonly tookMs: number;
}

/** Beyond the limit of the server itself: for what is not the server's fault. */
const graceMs = 5_000;

/** Starts a server, waits until it is known how it is, and ends it. Rejects for nothing a server does. */
export async function tryServer(name: string, config: ServerConfig, options: TrialOptions): Promise<Trial> {
  const { createThread, secrets, roots, startTimeoutMs, signal } = options;
  const warnings: WarningEvent[] = [];
  const settled = deferred<undefined>();
  const startedAt = performance.now();
  const thread = createThread({
    // A required server that fails leaves no runtime to look at.
    servers: { [name]: { ...config, required: false, startTimeoutMs } },
    secrets,
    // Nobody is here to answer.
    policy: { elicitation: { autoDeny: true } },
    ...(roots === undefined ? {} : { roots }),
  });
  const find = (): ServerSnapshot | undefined => thread.snapshot().servers.find((server) => server.name === name);
  const timer = setTimeout(() => settled.resolve(undefined), startTimeoutMs + graceMs);
  const stop = (): void => settled.resolve(undefined);
  const subscription = thread.events$.subscribe((event) => {
    if (event.type === 'warning') warnings.push(event);
    else if (isSettled(find())) stop();
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted || isSettled(find())) stop();
  try {
    await settled.promise;
    const tookMs = Math.round(performance.now() - startedAt);
    const server = find();
    const isUp = server?.state === 'ready' || server?.state === 'degraded';
    const status = isUp ? await statusOf(thread, name, signal) : undefined;
    return {
      ...(server === undefined || signal.aborted ? {} : { server }),
      ...(status === undefined ? {} : { status }),
      warnings,
      tookMs,
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    subscription.unsubscribe();
    await thread.close({ reason: 'the check is done' });
  }
}

/** Whether it is known how a server is. */
function isSettled(server: ServerSnapshot | undefined): boolean {
  return server !== undefined && server.state !== 'starting' && server.state !== 'reconnecting';
}

async function statusOf(thread: Thread, name: string, signal: AbortSignal): Promise<SeenServer | undefined> {
  try {
    await thread.ready({ signal, timeoutMs: graceMs });
    const { servers } = await thread.status({ detail: 'tools', servers: [name], signal });
    return servers[0];
  } catch {
    // It went away again, or the check was ended: the snapshot says so.
    return undefined;
  }
}
