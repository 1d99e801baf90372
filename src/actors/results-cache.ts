/** The results a thread keeps, once there are any: loads what keeps them, and passes on what makes them old (SPEC RE-2). */
import type { KeptResults } from './result-store.ts';
import type { LiveConnection } from './servers.ts';

/** The public results of a host, made with the first of them. */
export interface SharedResults {
  /** Settles when there is an `open`. */
  loading?: Promise<void>;
  /** Makes the results of a thread over those of the host. */
  open?: (now: () => number) => KeptResults;
}

/** What the listings of each kind are asked by. */
const methodsOf = {
  tools: ['tools/list'],
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
} as const;

export class ResultsCache {
  readonly #shared: SharedResults;
  readonly #now: () => number;
  #kept: KeptResults | undefined;

  constructor(shared: SharedResults, now: () => number) {
    this.#shared = shared;
    this.#now = now;
  }

  /** Undefined as long as nothing can be in it. */
  get kept(): KeptResults | undefined {
    this.#kept ??= this.#shared.open?.(this.#now);
    return this.#kept;
  }

  /** Resolves when {@link kept} is there: the same promise for all, so that who waits first goes on first. */
  load(): Promise<void> {
    const shared = this.#shared;
    shared.loading ??= import('./result-store.ts').then(({ sharedResults }) => {
      shared.open ??= sharedResults();
    });
    return shared.loading;
  }

  /** Undefined as long as nothing is about to be kept. */
  get loading(): Promise<void> | undefined {
    return this.#shared.loading;
  }

  /** A list changed. */
  listChanged(connection: LiveConnection, kind: keyof typeof methodsOf): void {
    connection.revision += 1;
    for (const method of methodsOf[kind]) this.kept?.forget(connection, `${method} `);
  }

  /** A resource changed. */
  updated(connection: LiveConnection, uri: string): void {
    connection.revision += 1;
    this.kept?.forgetReads(connection, uri);
  }

  /** Somebody else is let in now, or nobody: what was for the one before is for nobody here. */
  credentialsChanged(connection: LiveConnection): void {
    connection.revision += 1;
    this.kept?.forgetPrivate(connection);
  }

  /** Its link is another one: what the server says may be, too. */
  reopened(connection: LiveConnection): void {
    connection.revision += 1;
    this.kept?.forget(connection);
  }
}
