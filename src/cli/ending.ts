/** The signals that end a command, as one abort signal and one exit code. */
import type { EndSignal } from './jsonl/host-command.ts';
import { exitCodes } from './usage-error.ts';

/** What ended a command, if anything has. */
export interface Ending {
  readonly signal: AbortSignal;
  /** Set once a signal came. */
  readonly code: number | undefined;
  /** Stops listening. */
  stop(): void;
}

const codes = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hangup,
} as const satisfies Record<EndSignal, number>;

/** Listens for signals until told to stop. The first one counts. */
export function listenForEnd(
  onSignal: (listener: (signal: EndSignal) => void) => () => void,
  { isInteractive }: { readonly isInteractive: boolean },
): Ending {
  const controller = new AbortController();
  let code: number | undefined;
  const stop = onSignal((signal) => {
    code ??= codes[signal];
    controller.abort(signal === 'SIGINT' && isInteractive ? 'you pressed Ctrl-C' : `the command got ${signal}`);
  });
  return {
    signal: controller.signal,
    get code() {
      return code;
    },
    stop,
  };
}
