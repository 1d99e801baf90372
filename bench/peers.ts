/** The two sides: the bare SDK client and a Holdfast step, each with its own connection to the same kind of server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createThread } from 'holdfast';
import type { ServerConfig } from 'holdfast';
import type { Call } from './rounds.ts';
import { serve } from './servers/serve.ts';
import type { BenchEra } from './servers/serve.ts';

export type Wire = 'memory' | 'stdio' | 'http';

export interface Peer {
  readonly call: Call;
  close(): Promise<void>;
}

/** A place both sides connect to. */
export interface Place {
  readonly config: ServerConfig;
  transport(): Promise<Transport>;
  close(): Promise<void>;
}

const args = { text: 'hello' };

/** Arguments that run one of the benchmark's servers. */
function serverArgs(program: URL, era: BenchEra): string[] {
  return ['--import', 'tsx', fileURLToPath(program), era];
}

/** Makes the place for a wire; for HTTP it starts the server's process, which both sides share. */
export async function openPlace(wire: Wire, era: BenchEra): Promise<Place> {
  switch (wire) {
    case 'memory':
      return memoryPlace(era);
    case 'stdio': {
      const launch = {
        command: process.execPath,
        args: serverArgs(new URL('./servers/stdio.ts', import.meta.url), era),
      };
      return {
        config: launch,
        transport: () => Promise.resolve(new StdioClientTransport({ ...launch, stderr: 'inherit' })),
        close: () => Promise.resolve(),
      };
    }
    case 'http': {
      const child = spawn(process.execPath, serverArgs(new URL('./servers/http.ts', import.meta.url), era), {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const lines = createInterface({ input: child.stdout });
      const [line] = (await once(lines, 'line')) as readonly unknown[];
      const url = String(line);
      return {
        config: { url, transport: 'http' },
        transport: () => Promise.resolve(new StreamableHTTPClientTransport(new URL(url))),
        close: async () => {
          const exited = once(child, 'exit');
          child.stdin.end();
          await exited;
        },
      };
    }
  }
}

function memoryPlace(era: BenchEra): Place {
  return {
    config: {
      inMemory: () => {
        let end: (() => Promise<void>) | undefined;
        return {
          connect: async (transport: Transport) => {
            end = await serve(era, transport);
          },
          close: async () => {
            await end?.();
          },
        };
      },
    },
    transport: async () => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      await serve(era, far);
      return near;
    },
    close: () => Promise.resolve(),
  };
}

/** The SDK's own client, called as its documentation says. */
export async function openBare(place: Place, era: BenchEra): Promise<Peer> {
  const client = new Client(
    { name: 'bare', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
  );
  await client.connect(await place.transport());
  await client.listTools();
  const params = { name: 'echo', arguments: args };
  return { call: (signal) => client.callTool(params, { signal }), close: () => client.close() };
}

/** A thread with one step. Its call limits are above the concurrency, as the bare client has none. */
export async function openHoldfast(place: Place): Promise<Peer> {
  const thread = createThread({
    servers: { echo: { ...place.config, required: true } },
    limits: { callsPerThread: 1_000, callsPerServer: 1_000 },
  });
  await thread.ready();
  const step = await thread.beginStep();
  const name = 'mcp__echo__echo';
  return {
    call: (signal) => step.callTool(name, args, { signal }),
    close: async () => {
      await step.end();
      await thread.close();
    },
  };
}

/** Both answer the same, or there is nothing to compare. */
export async function checkSame(a: Peer, b: Peer): Promise<void> {
  const { signal } = new AbortController();
  const [first, second] = [await a.call(signal), await b.call(signal)].map(contentOf);
  if (first === undefined || first !== second)
    throw new Error(`Expected the same content from both sides, got ${String(first)} and ${String(second)}.`);
}

function contentOf(result: unknown): string | undefined {
  return typeof result === 'object' && result !== null && 'content' in result
    ? JSON.stringify(result.content)
    : undefined;
}
