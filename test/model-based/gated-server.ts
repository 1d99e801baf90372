/** A scripted server in this process behind a door: closed, no connection gets through; crashed, it waits at the door. */
import type { InMemoryServer } from '../../src/index.ts';
import { deferred, scriptedServer } from '../../src/testing/index.ts';
import type { Deferred, ScriptedServer, ServerScript } from '../../src/testing/index.ts';

export class GatedServer {
  readonly peer: ScriptedServer;
  readonly config: InMemoryServer;
  #door: Deferred<void> = deferred();

  constructor(script: ServerScript, isOpen = true) {
    this.peer = scriptedServer(script);
    const { inMemory } = this.peer.config;
    this.config = {
      inMemory: async () => {
        await this.#door.promise;
        return inMemory();
      },
    };
    if (isOpen) this.open();
  }

  /** Lets in who waits, and who comes. */
  open(): void {
    this.#door.resolve();
  }

  /** Goes away, and stays away until the door is opened. */
  async die(): Promise<void> {
    this.#door = deferred();
    await this.peer.crash();
  }

  /** Whoever comes is turned away. */
  refuse(): void {
    this.#door.reject(new Error('There is no such server.'));
  }
}
