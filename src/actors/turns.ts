/**
 * Who may be on the wire: the limits of thread, server and step (SPEC RT-9).
 *
 * - W1 A call that waits for an answer holds no place, unless its server is `serialize` (EL-11).
 * - W2 Calls wait in the order they came; one that is held back by its own server or step holds back no other.
 */

export interface TurnLimits {
  readonly callsPerThread: number;
  readonly callsPerServer: number;
}

/** One call's claim. The same object enters, leaves and comes back. */
export interface Turn {
  readonly connection: string;
  /** Set when calls of its step to its server run one at a time: names the two. */
  readonly lane: string | undefined;
  /** One call at a time on this connection, questions included. */
  readonly exclusive: boolean;
}

export interface Turns {
  /** Takes a turn if one is free and nobody waits for it. */
  tryEnter(turn: Turn): boolean;
  /** Calls `admit` when there is a turn; at once if there is one now. The returned function withdraws. */
  wait(turn: Turn, admit: () => void): () => void;
  /** Comes back after a pause, without waiting. */
  resume(turn: Turn): void;
  leave(turn: Turn): void;
}

interface Waiting {
  readonly turn: Turn;
  readonly admit: () => void;
}

export function createTurns(limits: TurnLimits): Turns {
  const perConnection = new Map<string, number>();
  const lanes = new Map<string, number>();
  let running = 0;
  let queue: Waiting[] = [];

  function isFree(turn: Turn): boolean {
    if (running >= limits.callsPerThread) return false;
    const here = perConnection.get(turn.connection) ?? 0;
    if (here >= (turn.exclusive ? 1 : limits.callsPerServer)) return false;
    return turn.lane === undefined || (lanes.get(turn.lane) ?? 0) === 0;
  }

  function enter(turn: Turn): void {
    running += 1;
    add(perConnection, turn.connection, 1);
    if (turn.lane !== undefined) add(lanes, turn.lane, 1);
  }

  function admitWaiting(): void {
    if (queue.length === 0) return;
    const admitted: Waiting[] = [];
    queue = queue.filter((waiting) => {
      if (!isFree(waiting.turn)) return true;
      enter(waiting.turn);
      admitted.push(waiting);
      return false;
    });
    for (const { admit } of admitted) admit();
  }

  return {
    tryEnter(turn) {
      if (
        !isFree(turn) ||
        queue.some((waiting) => waiting.turn.connection === turn.connection && waiting.turn.lane === turn.lane)
      )
        return false;
      enter(turn);
      return true;
    },
    wait(turn, admit) {
      const waiting = { turn, admit };
      queue.push(waiting);
      admitWaiting();
      return () => {
        queue = queue.filter((other) => other !== waiting);
      };
    },
    resume: enter,
    leave(turn) {
      running -= 1;
      add(perConnection, turn.connection, -1);
      if (turn.lane !== undefined) add(lanes, turn.lane, -1);
      admitWaiting();
    },
  };
}

function add(counts: Map<string, number>, key: string, delta: number): void {
  const next = (counts.get(key) ?? 0) + delta;
  if (next <= 0) counts.delete(key);
  else counts.set(key, next);
}
