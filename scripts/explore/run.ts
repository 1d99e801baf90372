/** Holdfast's own exploration: the scopes that are seen whole, and the faults that must be found in one of them. */
import { explore } from '../../src/testing/explore/explore.ts';
import type { Exploration, ExploreProgress } from '../../src/testing/explore/types.ts';
import type { Fault } from './faults.ts';
import { invariants } from './invariants.ts';
import { threadKey } from './key.ts';
import { possibleMoves } from './moves.ts';
import type { Move } from './moves.ts';
import type { ProvideOptions } from './provide.ts';
import type { Scope } from './scope.ts';
import { threadSystems } from './system.ts';

/** Two runtimes, two steps, two calls each, two questions, one crash (SPEC TK-3). */
export const wholeScope: Scope = {
  name: 'whole',
  runtimes: 2,
  steps: 2,
  callsPerStep: 2,
  requests: 0,
  questions: 2,
  crashes: 1,
  server: 'changed',
  asking: 'streamed',
  closes: false,
};

/** Every scope that `npm run explore` sees whole: the one above, then what differs by server, by asking and by the end. */
export const scopes: readonly Scope[] = [
  wholeScope,
  { ...wholeScope, name: 'modern server', callsPerStep: 1, asking: 'modern' },
  {
    ...wholeScope,
    name: 'one connection, calls that cannot be told apart',
    callsPerStep: 1,
    server: 'kept',
    asking: 'plain',
  },
  { ...wholeScope, name: 'closed at any moment', callsPerStep: 1, questions: 1, closes: true },
  { ...wholeScope, name: 'a request outside a step', steps: 1, callsPerStep: 1, requests: 1, crashes: 0, closes: true },
];

/** A small scope: for tests, and for what has to be seen twice. */
export const smallScope: Scope = { ...wholeScope, name: 'small', steps: 1, callsPerStep: 1, questions: 1 };

export interface ExploreThreadOptions extends ProvideOptions {
  readonly maxViolations?: number;
  readonly onProgress?: (progress: ExploreProgress) => void;
}

/** Explores a thread in one scope, to its end. */
export function exploreThread(scope: Scope, options: ExploreThreadOptions): Promise<Exploration<Move>> {
  const { maxViolations, onProgress } = options;
  return explore(threadSystems(scope, options), {
    events: possibleMoves,
    invariants,
    key: threadKey(scope),
    limit: 1_000_000,
    ...(maxViolations === undefined ? {} : { maxViolations }),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
}

/** Gives the same exploration a thread with a fault, until it is found. */
export function findFault({ plant }: Fault, scope: Scope): Promise<Exploration<Move>> {
  return exploreThread(scope, { ...plant, shortcuts: true, maxViolations: 1 });
}
