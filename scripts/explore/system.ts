/** A thread of real actors in a simulated world, as `explore` saves and restores it. */
import { createActor } from 'xstate';
import type { Snapshot } from 'xstate';
import { isRecord } from '../../src/domain/json.ts';
import type { ThreadActorRef } from '../../src/machines/thread.ts';
import type { ExploredSystem } from '../../src/testing/explore/types.ts';
import { makeMove } from './act.ts';
import type { Move } from './moves.ts';
import { provideThread } from './provide.ts';
import type { ProvideOptions } from './provide.ts';
import type { Scope } from './scope.ts';
import { actorOf, newWorld, wrong } from './world.ts';
import type { Live, World } from './world.ts';

export interface SavedThread {
  readonly actors: Snapshot<unknown>;
  readonly world: World;
}

export type ThreadSystem = ExploredSystem<Move, Live>;

/** Makes `createSystem` for one scope. A new system has asked for its first runtime. */
export function threadSystems(scope: Scope, options: ProvideOptions): (saved?: unknown) => ThreadSystem {
  const lives = new WeakMap<object, Live>();
  const logic = provideThread((system) => {
    const live = lives.get(system);
    if (live === undefined) throw new Error('Expected the world of an actor system to be known before its actors run.');
    return live;
  }, options);

  const pinOf = options.pinOf ?? (({ world }: Live, step: string): number => world.steps[step]?.generation ?? 0);

  return (given) => {
    const saved = savedThread(given);
    const root = createActor(logic, {
      input: { thread: 'thread', graceMs: 0, settledLimit: 8 },
      ...(saved === undefined ? {} : { snapshot: saved.actors }),
    }) as ThreadActorRef;
    const world = saved?.world ?? newWorld();
    const live: Live = { scope, root, world, pinOf, replies: [], heard: [], isStopped: false };
    lives.set(root.system, live);
    root.subscribe({
      error: (error) => {
        wrong(live, `H5 the thread failed: ${String(error)}`);
      },
    });
    root.start();
    if (saved === undefined) makeMove(live, { type: 'runtime.replace' });
    return {
      view: live,
      send: (move) => {
        live.replies = [];
        live.heard = [];
        makeMove(live, move);
        decideAll(live);
      },
      save: (): SavedThread => ({ actors: root.getPersistedSnapshot(), world: live.world }),
      stop: () => {
        // Nothing it started works by itself: it is dropped as it is, which takes a tenth of the time of stopping.
        live.isStopped = true;
      },
    };
  };
}

/** Policy has no opinion: every question that was put is shown. */
function decideAll(live: Live): void {
  for (const token of Object.keys(live.world.questions)) {
    const responder = actorOf(live, token);
    if (responder?.getSnapshot().value === 'deciding')
      responder.send({
        type: 'xstate.done.actor.decide',
        actorId: 'decide',
        output: { decision: { kind: 'show' }, at: 0 },
      });
  }
}

/** What `save` gave, after it was JSON. */
export function savedThread(value: unknown): SavedThread | undefined {
  return isSavedThread(value) ? value : undefined;
}

function isSavedThread(value: unknown): value is SavedThread {
  return isRecord(value) && isRecord(value['actors']) && isRecord(value['world']);
}
