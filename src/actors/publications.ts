/** Who waits for a runtime: the callers of `replaceRuntime`, and those who wait for the first one (SPEC RT-3, RT-4, RT-6). */
import type { Publication } from '../api.ts';
import { HoldfastError } from '../domain/errors.ts';
import type { RuntimeServer } from '../machines/runtime.ts';

interface Waiter {
  readonly resolve: (publication: Publication) => void;
  readonly reject: (error: HoldfastError) => void;
}

interface FirstWaiter {
  readonly resolve: () => void;
  readonly reject: (error: HoldfastError) => void;
}

export class Publications {
  readonly #candidates = new Map<number, Waiter>();
  readonly #first = new Set<FirstWaiter>();
  #current = 0;
  #failure: HoldfastError | undefined;
  #isClosed = false;

  /** The current runtime's number as told so far; 0 before the first. */
  get current(): number {
    return this.#current;
  }

  /** The thread takes nothing more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves or rejects when it is known what became of a candidate. */
  wait(generation: number): Promise<Publication> {
    return new Promise<Publication>((resolve, reject) => {
      this.#candidates.set(generation, { resolve, reject });
    });
  }

  /** Calls back when a runtime is current, at once if one is; the returned function lets go. */
  whenReady(waiter: FirstWaiter): () => void {
    if (this.#isClosed) waiter.reject(closedError());
    else if (this.#current > 0) waiter.resolve();
    else if (this.#failure !== undefined && this.#candidates.size === 0) waiter.reject(this.#failure);
    else this.#first.add(waiter);
    return () => {
      this.#first.delete(waiter);
    };
  }

  published(generation: number, replaced: number): void {
    this.#current = generation;
    this.#take(generation)?.resolve({ status: 'published', generation, ...(replaced === 0 ? {} : { replaced }) });
    for (const waiter of this.#first) waiter.resolve();
    this.#first.clear();
  }

  superseded(generation: number): void {
    this.#take(generation)?.resolve({ status: 'superseded', generation: this.#current });
  }

  rejected(generation: number, error: HoldfastError): void {
    const waiter = this.#take(generation);
    this.#failure = error;
    this.#rejectFirst();
    waiter?.reject(error);
  }

  /** Its caller gave up; nothing is remembered of it (RT-4): who waits for a first runtime hears why there is none. */
  cancelled(generation: number, error: HoldfastError): void {
    this.#take(generation)?.reject(error);
    this.#rejectFirst();
  }

  /** Nothing is under way that could still become the first runtime. */
  #rejectFirst(): void {
    if (this.#failure === undefined || this.#current > 0 || this.#candidates.size > 0) return;
    for (const first of this.#first) first.reject(this.#failure);
    this.#first.clear();
  }

  close(): void {
    this.#isClosed = true;
    const error = closedError();
    for (const waiter of [...this.#candidates.values(), ...this.#first]) waiter.reject(error);
    this.#candidates.clear();
    this.#first.clear();
  }

  #take(generation: number): Waiter | undefined {
    const waiter = this.#candidates.get(generation);
    this.#candidates.delete(generation);
    return waiter;
  }
}

/** The error of everything that is asked of a closed thread. */
export function closedError(): HoldfastError {
  return new HoldfastError('thread_closed', 'Expected an open thread, and this one was closed. Create a new one.');
}

/** Every server's reason, and the last lines of its stderr. */
export function runtimeFailedError(servers: readonly RuntimeServer[]): HoldfastError {
  const failed = servers.filter((entry) => entry.state === 'failed');
  const lines = failed.map(({ server, required, failure }) => {
    const stderr =
      failure?.stderr === undefined || failure.stderr === ''
        ? ''
        : `\n  its stderr ends with:\n${indent(failure.stderr)}`;
    return `- ${server}${required ? ' (required)' : ''}: ${failure?.message ?? 'did not start'}${stderr}`;
  });
  const message = `Expected every required server to start, and ${failed
    .filter((entry) => entry.required)
    .map(({ server }) => `"${server}"`)
    .join(', ')} did not. The runtime was not published; mend the server or make it optional.\n${lines.join('\n')}`;
  return new HoldfastError('runtime_failed', message, {
    issues: failed.map(({ server, failure }) => ({
      path: `/servers/${server}`,
      message: failure?.message ?? 'did not start',
    })),
  });
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
