/** A host: what the threads of one process share. */
import type { Host, HostOptions, Thread, ThreadOptions } from './api.ts';
import type { VerdictCache } from './actors/link-actor.ts';
import type { SharedResults } from './actors/results-cache.ts';
import { createToolInventories } from './actors/tool-inventories.ts';
import { checkLimits, checkPolicy } from './check-settings.ts';
import { systemClock } from './clock.ts';
import { createApprovalMemory } from './domain/approval-memory.ts';
import type { EraVerdict, OpenLink } from './domain/link.ts';
import { createLinkPool, openLinkAlone } from './mcp/link-pool.ts';
import { closeOnSignals } from './signals.ts';
import { openThread } from './thread.ts';

/** Most era verdicts a host remembers. */
const maxVerdicts = 1_024;

/**
 * Makes a host for many threads. Its options are the defaults of its threads.
 *
 * @example
 * const host = createHost();
 * const thread = host.createThread({ servers: { everything: { command: 'mcp-server-everything' } } });
 */
export function createHost(options: HostOptions = {}): Host {
  return hostOver(options, createLinkPool());
}

function hostOver(options: HostOptions, open: OpenLink): Host {
  checkDefaults(options);
  const threads = new Set<Thread>();
  const verdicts = createVerdictCache();
  const approvals = options.approvals ?? createApprovalMemory();
  const { clock = systemClock } = options;
  const toolCache = options.toolCache ?? createToolInventories(() => clock.now());
  const results: SharedResults = {};
  const close = async (): Promise<void> => {
    await Promise.all([...threads].map((thread) => thread.close()));
  };
  return {
    createThread(given = {}) {
      if (given.limits !== undefined) checkLimits(given.limits);
      const merged: ThreadOptions = {
        ...given,
        limits: { ...options.limits, ...given.limits },
        authorization: { ...options.authorization, ...given.authorization },
        approvals: given.approvals ?? approvals,
        ...(given.clock === undefined && options.clock !== undefined ? { clock: options.clock } : {}),
      };
      let release: (() => void) | undefined;
      const thread = openThread(merged, {
        verdicts,
        toolCache,
        results,
        openLink: open,
        ...(options.policy === undefined ? {} : { policy: options.policy }),
        onClosed: () => {
          threads.delete(thread);
          release?.();
        },
      });
      threads.add(thread);
      if (merged.handleSignals === true) release = closeOnSignals(thread);
      return thread;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Makes one thread with a private host. */
export function createThread(options: ThreadOptions = {}): Thread {
  // Alone, it shares nothing.
  return hostOver({}, openLinkAlone).createThread(options);
}

/** A host whose defaults are wrong makes no thread. */
function checkDefaults({ policy, limits }: HostOptions): void {
  if (policy !== undefined) checkPolicy(policy);
  if (limits !== undefined) checkLimits(limits);
}

function createVerdictCache(): VerdictCache {
  const verdicts = new Map<string, EraVerdict>();
  return {
    get: (identity) => verdicts.get(identity),
    set(identity, verdict) {
      verdicts.delete(identity);
      verdicts.set(identity, verdict);
      if (verdicts.size > maxVerdicts) {
        const [oldest] = verdicts.keys();
        if (oldest !== undefined) verdicts.delete(oldest);
      }
    },
  };
}
