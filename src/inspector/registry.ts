/**
 * The actors that live now, under stable ids.
 *
 * Owns one entry an actor. An id is the path of names from the root (`thread/steps/step-1/calls/call-3`), so that frames
 * of two runs can be laid side by side.
 *
 * - R1 No two live actors share an id: while `a` is taken, the next one is `a~2`.
 * - R2 A parent comes before its children.
 * - R3 An actor that has ended is forgotten at once, or, if it ended unseen, before the table doubles.
 */
import type { ActorRefLike, AnyEventObject } from 'xstate';
import { isOver, nameOf, parentOf } from './actor-ref.ts';
import type { Redact } from './plain.ts';

export interface ActorEntry {
  readonly ref: ActorRefLike;
  readonly id: string;
  readonly name: string;
  readonly parent: ActorEntry | undefined;
  readonly rootId: string;
  /** Whether the viewers have its registration. */
  announced: boolean;
  ended: boolean;
  /** The event it received last, kept while somebody watches: what an end that XState does not explain came of. */
  last: AnyEventObject | undefined;
}

export interface ActorRegistry {
  /** The entry of an actor that sends or receives; makes it, and those of its ancestors, at first sight. */
  entry(ref: ActorRefLike): ActorEntry;
  /** The id of an actor that is only mentioned; an unknown one is not kept. */
  idOf(ref: ActorRefLike): string;
  end(entry: ActorEntry): void;
  /** Drops what ended unseen, and gives the rest, parents first. */
  live(): Iterable<ActorEntry>;
  readonly size: number;
}

const firstSweep = 1_024;

export interface ActorRegistryOptions {
  /** Gets every name. */
  readonly redact: Redact;
  /** Hears of an actor that ended unseen, before it is forgotten. */
  readonly onUnseenEnd: (entry: ActorEntry) => void;
}

/** Makes an empty registry. */
export function createActorRegistry(options: ActorRegistryOptions): ActorRegistry {
  const { redact, onUnseenEnd } = options;
  const entries = new WeakMap<ActorRefLike, ActorEntry>();
  const live = new Map<string, ActorEntry>();
  let sweepAt = firstSweep;

  function entry(ref: ActorRefLike): ActorEntry {
    return entries.get(ref) ?? register(ref);
  }

  function register(ref: ActorRefLike): ActorEntry {
    const parentRef = parentOf(ref);
    const parent = parentRef === undefined ? undefined : entry(parentRef);
    const name = redact(nameOf(ref));
    const id = unused(pathOf(parent?.id, name));
    const ended = isOver(ref);
    const rootId = parent?.rootId ?? id;
    const made: ActorEntry = { ref, id, name, parent, rootId, announced: false, ended, last: undefined };
    entries.set(ref, made);
    if (!ended) keep(made);
    return made;
  }

  function unused(path: string): string {
    if (!live.has(path)) return path;
    for (let count = 2; ; count += 1) {
      const candidate = `${path}~${count}`;
      if (!live.has(candidate)) return candidate;
    }
  }

  function keep(made: ActorEntry): void {
    if (live.size >= sweepAt) {
      sweep();
      sweepAt = Math.max(firstSweep, live.size * 2);
    }
    live.set(made.id, made);
  }

  function sweep(): void {
    for (const candidate of live.values()) {
      if (!isOver(candidate.ref)) continue;
      onUnseenEnd(candidate);
      end(candidate);
    }
  }

  function end(ending: ActorEntry): void {
    ending.ended = true;
    ending.last = undefined;
    if (live.get(ending.id) === ending) live.delete(ending.id);
  }

  function idOf(ref: ActorRefLike): string {
    const known = entries.get(ref);
    if (known !== undefined) return known.id;
    const parent = parentOf(ref);
    return pathOf(parent === undefined ? undefined : idOf(parent), redact(nameOf(ref)));
  }

  return {
    entry,
    idOf,
    end,
    live() {
      sweep();
      return live.values();
    },
    get size() {
      return live.size;
    },
  };
}

function pathOf(parent: string | undefined, name: string): string {
  const segment = name.replaceAll('%', '%25').replaceAll('/', '%2F');
  return parent === undefined ? segment : `${parent}/${segment}`;
}
