/** Serves the echo server over one connection, in the era that is measured. */
import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createEchoServer } from './echo.ts';

export type BenchEra = 'legacy' | 'modern';

/** Reads the era from a command line. */
export function parseEra(text: string | undefined): BenchEra {
  if (text === 'legacy' || text === 'modern') return text;
  throw new Error(`Expected "legacy" or "modern", got "${String(text)}".`);
}

/** Starts serving; resolves with what ends the connection. */
export async function serve(era: BenchEra, transport: Transport): Promise<() => Promise<void>> {
  if (era === 'modern') {
    const handle = serveStdio(createEchoServer, { transport, legacy: 'reject' });
    return () => handle.close();
  }
  const server = createEchoServer();
  await server.connect(transport);
  return () => server.close();
}
