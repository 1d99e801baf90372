/** `--watch`: the files a command was started with, as they change (SPEC CA-4). */
import { isDeepStrictEqual } from 'node:util';
import type { Policy, Publication, RuntimeServers } from '../index.ts';
import { type CommandRunner, type ResolvedConfig, watchConfig } from '../config/index.ts';
import { errorRecord } from './jsonl/error-record.ts';

/** What following files needs of its command. */
export interface FollowPorts {
  readonly replace: (next: RuntimeServers) => Promise<Publication>;
  /** Takes the policy of the files, whole; nothing when they have none. */
  readonly setPolicy: (policy: Policy | undefined) => void;
  readonly warn: (warning: { readonly code: string; readonly message: string; readonly server?: string }) => void;
  /** Runs the commands of the files that were consented to. */
  readonly runCommand: CommandRunner;
}

/**
 * Replaces the runtime and the policy after each good change of the files of `config`, each if it is another one, until the
 * returned function is called.
 */
export function followFiles(config: ResolvedConfig, { replace, setPolicy, warn, runCommand }: FollowPorts): () => void {
  let isStopped = false;
  let last = config;
  const replaceBy = async (next: ResolvedConfig): Promise<void> => {
    try {
      await replace(runtimeOf(next));
    } catch (error) {
      const { code, message } = errorRecord(error);
      if (!isStopped) warn({ code, message });
    }
  };
  const subscription = watchConfig(config.files, { onWarning: warn, runCommand }).subscribe({
    next: (next) => {
      if (isDeepStrictEqual(last, next)) return;
      for (const warning of next.warnings) warn(warning);
      // Before the servers: what is asked while they start is asked under the new one.
      if (!isDeepStrictEqual(last.policy, next.policy)) setPolicy(next.policy);
      if (!isDeepStrictEqual(last.limits, next.limits))
        warn({
          code: 'restart_needed',
          message: 'Expected "limits" to stay, got others. They count from the next start on.',
        });
      const hasOthers = !isDeepStrictEqual(runtimeOf(last), runtimeOf(next));
      last = next;
      // Else nothing of it is about servers: what runs goes on.
      if (hasOthers) void replaceBy(next);
    },
    error: (error: unknown) => warn(errorRecord(error)),
  });
  return () => {
    isStopped = true;
    subscription.unsubscribe();
  };
}

function runtimeOf({ servers, misconfigured, provenance, secrets }: ResolvedConfig): RuntimeServers {
  return { servers, misconfigured, provenance, secrets };
}
