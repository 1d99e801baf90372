/** Serves one connection of a scripted server over a transport, in the eras of its script. */
import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createScriptedServer } from './protocol.ts';
import type { Stage } from './stage.ts';
import type { Carrier } from './tool.ts';

/** Starts serving; resolves with what ends the connection. */
export async function serveTransport(
  stage: Stage,
  carrier: Carrier,
  transport: Transport,
): Promise<() => Promise<void>> {
  const era = stage.script.era ?? 'legacy';
  if (era === 'legacy') {
    const server = createScriptedServer({ stage, carrier, era });
    await server.connect(transport);
    return () => server.close();
  }
  const handle = serveStdio((context) => createScriptedServer({ stage, carrier, era: context.era }), {
    transport,
    legacy: era === 'both' ? 'serve' : 'reject',
  });
  return () => handle.close();
}
