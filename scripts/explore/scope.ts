/** How much of a thread's life one exploration covers. Every number bounds the space, so that all of it is seen. */

export interface Scope {
  readonly name: string;
  /** The runtimes asked for: the first, and its replacements. */
  readonly runtimes: number;
  readonly steps: number;
  readonly callsPerStep: number;
  /** Requests outside a step, on the current runtime. */
  readonly requests: number;
  readonly questions: number;
  /** Connections that are lost. */
  readonly crashes: number;
  /**
   * `changed`: each runtime names a server of another identity, so it gets a connection of its own. `kept`: all name the
   * same one, and share its connection (RT-5).
   */
  readonly server: 'changed' | 'kept';
  /**
   * How the server asks. `streamed`: on the stream of the call, so that it is known which call asked. `plain`: over
   * stdio, so that with two calls in flight it is not. `modern`: with a result that requires input.
   */
  readonly asking: 'streamed' | 'plain' | 'modern';
  /** The thread may be closed at any moment. */
  readonly closes: boolean;
}

/** The server every runtime names. */
export const serverName = 'docs';

const stepNames = ['a', 'b', 'c', 'd'];

export function stepsOf({ steps }: Scope): readonly string[] {
  return stepNames.slice(0, steps);
}

/** The calls of a step, in the order they are made. */
export function callsOf({ callsPerStep }: Scope, step: string): readonly string[] {
  return Array.from({ length: callsPerStep }, (_, index) => `${step}${String(index + 1)}`);
}

/** The requests outside a step. */
export function requestsOf({ requests }: Scope): readonly string[] {
  return Array.from({ length: requests }, (_, index) => `r${String(index + 1)}`);
}

/** Each call asks at most one question. */
export function tokenOf(call: string): string {
  return `elc_${call}`;
}

/** A token of another thread: unknown to this one's router (H8). */
export const foreignToken = 'elc_of_another_thread';

/** The key of the one entry of a modern request for input. */
export const roundKey = 'key';
