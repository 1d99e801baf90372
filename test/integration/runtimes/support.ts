/** What the tests of threads share: a record of a thread's facts, and peers in every kind and era. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ServerConfig } from '../../../src/domain/config.ts';
import { HoldfastError } from '../../../src/domain/errors.ts';
import type { ThreadEvent } from '../../../src/domain/events.ts';
import type { ServerState } from '../../../src/domain/snapshot.ts';
import type { ToolResult } from '../../../src/domain/tool.ts';
import type { Thread } from '../../../src/index.ts';
import { scriptedServer, serveHttp } from '../../../src/testing/index.ts';
import type { ScriptedEra, ScriptedHttpServer, ScriptedServer, ServerScript } from '../../../src/testing/index.ts';

type EventOf<TType, TEvent = ThreadEvent> = TEvent extends { readonly type: infer TOwn }
  ? TType extends TOwn
    ? TEvent
    : never
  : never;

/** Records the facts of a thread, and lets a test wait for one. */
export class Watch {
  readonly facts: ThreadEvent[] = [];
  readonly #waiters = new Set<() => void>();

  constructor(thread: Thread) {
    thread.events$.subscribe((fact) => {
      this.facts.push(fact);
      for (const wake of [...this.#waiters]) wake();
    });
  }

  of<TType extends ThreadEvent['type']>(type: TType): readonly EventOf<TType>[] {
    return this.facts.filter((fact): fact is EventOf<TType> & ThreadEvent => fact.type === type);
  }

  /** Resolves with the first fact that matches, past or future, leaving out the first `from` facts. */
  until(matches: (fact: ThreadEvent) => boolean, from = 0): Promise<ThreadEvent> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.facts.slice(from).find(matches);
        if (found === undefined) return;
        this.#waiters.delete(look);
        resolve(found);
      };
      this.#waiters.add(look);
      look();
    });
  }

  untilServer(server: string, state: ServerState, from = 0): Promise<ThreadEvent> {
    return this.until((fact) => fact.type === 'server.changed' && fact.server === server && fact.state === state, from);
  }

  untilStopped(generation: number): Promise<ThreadEvent> {
    return this.until((fact) => fact.type === 'runtime.stopped' && fact.generation === generation);
  }

  hasStopped(generation: number): boolean {
    return this.of('runtime.stopped').some((fact) => fact.generation === generation);
  }
}

/** Lets so many turns of the event loop pass. */
export async function turns(count = 1): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

/** Keeps turning the event loop until `holds`; the test's own limit ends it. */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

/** The text of a result. */
export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? String(block['text']) : '')).join('');
}

/** The error a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<HoldfastError> {
  const settled = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in settled && settled.error instanceof HoldfastError) return settled.error;
  expect.fail(`Expected a HoldfastError, got ${JSON.stringify(settled)}.`);
}

/** The entry of a server in the snapshot. */
export function serverOf(thread: Thread, name: string) {
  const found = thread.snapshot().servers.find((server) => server.name === name);
  if (found === undefined) expect.fail(`Expected server "${name}" in the snapshot.`);
  return found;
}

/** The raw names of the tools a step shows of a server. */
export function shown(
  step: { readonly tools: readonly { readonly server: string; readonly tool: string }[] },
  server: string,
) {
  return step.tools.filter((info) => info.server === server).map((info) => info.tool);
}

/** A scripted server in this process, however it is reached. */
export type Peer = (ScriptedServer | ScriptedHttpServer) & { readonly config: ServerConfig };

export type PeerKind = 'in memory' | 'http';

/** Every kind of peer in this process, in both eras. */
export const peerKinds = [
  ['legacy', 'in memory'],
  ['modern', 'in memory'],
  ['legacy', 'http'],
  ['modern', 'http'],
] as const satisfies readonly (readonly [ScriptedEra, PeerKind])[];

/** Starts one. Close it when the test ends. */
export async function startPeer(kind: PeerKind, script: ServerScript): Promise<Peer> {
  return kind === 'http' ? serveHttp(script) : scriptedServer(script);
}
