/** A server of this process that does no work: what a call to it costs is the client's own. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'stub', version: '1.0.0' },
  },
  'tools/list': {
    tools: [{ name: 'echo', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  },
  'tools/call': { content: [{ type: 'text', text: 'hello' }] },
};

/** The far end of one connection to the stub. */
export interface Stub {
  /** Sends a message of the server's own. */
  send(message: object): void;
  /** Runs for every response of the client. */
  onResponse: (id: unknown) => void;
}

/** Serves the stub over a transport: every request it knows is answered in the same turn. */
export async function serveStub(transport: Transport): Promise<Stub> {
  const send = (message: object): void => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- frames are written out here
    void transport.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  };
  const stub: Stub = { send, onResponse: () => undefined };
  transport.onmessage = (message) => {
    if (!('id' in message)) return;
    const { id } = message;
    if (!('method' in message)) stub.onResponse(id);
    else {
      const result = results[message.method];
      send(result === undefined ? { id, error: { code: -32_601, message: 'Unknown.' } } : { id, result });
    }
  };
  await transport.start();
  return stub;
}
