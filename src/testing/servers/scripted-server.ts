/** A scripted server in the test's own process. */
import type { Transport } from '@modelcontextprotocol/server';
import type { InMemoryServer, McpServerLike } from '../../domain/config.ts';
import { ServerControls } from './controls.ts';
import type { ServerScript } from './script.ts';
import { serveTransport } from './serve-transport.ts';
import { Stage } from './stage.ts';
import type { Carrier } from './tool.ts';

/** What a scripted server is made with, beside its script. */
export interface ScriptedServerOptions {
  /** Connections are served only once this resolves; what the client sends before waits. A rejection closes them. Default: at once. */
  readonly gate?: Promise<unknown>;
}

/**
 * Makes a server from a script, to be connected in memory.
 *
 * Its `config` is a `ServerConfig`; every connection gets a server of its own, all share the journal, the parked calls and
 * the tools. Close it when the test ends.
 */
export function scriptedServer(script: ServerScript = {}, options: ScriptedServerOptions = {}): ScriptedServer {
  return new ScriptedServer(new Stage(script), options);
}

/** See {@link scriptedServer}. */
export class ScriptedServer extends ServerControls implements AsyncDisposable {
  /** What a thread's `servers` take. */
  readonly config: InMemoryServer;

  /** @internal */
  constructor(stage: Stage, options: ScriptedServerOptions) {
    super(stage);
    this.config = { inMemory: () => connectable(stage, options.gate) };
  }

  /** How many connections are open. */
  get connections(): number {
    return this.stage.connections.size;
  }

  /** Drops every connection at once, without an answer to what is open. */
  async crash(): Promise<void> {
    this.stage.journal.add({ kind: 'crashed' });
    await this.close();
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.stage.connections].map((end) => end()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function connectable(stage: Stage, gate: Promise<unknown> | undefined): McpServerLike {
  let end: (() => Promise<void>) | undefined;
  const close = async (): Promise<void> => {
    stage.connections.delete(close);
    await end?.();
  };
  const carrier: Carrier = {
    kind: 'in-memory',
    crash: () => void close(),
  };
  return {
    connect: async (transport: Transport) => {
      stage.journal.add({ kind: 'started' });
      stage.connections.add(close);
      end = () => transport.close();
      if (stage.script.exitOnStart !== undefined) {
        await close();
      } else if (stage.script.hangOnStart === true) {
        transport.onclose = () => stage.connections.delete(close);
        await transport.start();
      } else if (gate === undefined) {
        await serve(transport);
      } else {
        void openLater(gate, transport);
      }
    },
    close,
  };

  async function openLater(opened: Promise<unknown>, transport: Transport): Promise<void> {
    try {
      await opened;
      if (stage.connections.has(close)) await serve(transport);
    } catch {
      // A gate that rejects never opens: the client finds its connection closed.
      await close();
    }
  }

  async function serve(transport: Transport): Promise<void> {
    end = await serveTransport(stage, carrier, transport);
    const { onclose } = transport;
    transport.onclose = () => {
      stage.connections.delete(close);
      onclose?.();
    };
  }
}
