/** What the tests of the HTTP transports share: transports and servers that end with the test, and messages. */
import { afterEach } from 'vitest';
import { createHttpTransport } from '../../../src/mcp/transports/http.ts';
import type { HttpTransportOptions } from '../../../src/mcp/transports/http.ts';
import type { WireTransport } from '../../../src/mcp/transports/transport.ts';
import { serveRaw } from './raw-http.ts';
import type { RawHttp } from './raw-http.ts';
import { Recorder } from './recorder.ts';

const ends: (() => Promise<unknown>)[] = [];

/** Runs `end` after the test, the latest first. */
export function atEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

export async function open(
  url: string,
  options: Partial<HttpTransportOptions> = {},
): Promise<{ transport: WireTransport; recorder: Recorder }> {
  const recorder = new Recorder();
  const transport = createHttpTransport({ url, listener: recorder, env: {}, ...options });
  atEnd(async () => transport.close());
  await transport.start();
  return { transport, recorder };
}

export async function raw(handle: Parameters<typeof serveRaw>[0]): Promise<RawHttp> {
  const server = await serveRaw(handle);
  atEnd(async () => server.close());
  return server;
}

export const request = (id: number | string, method = 'tools/call', params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0' as const,
  id,
  method,
  params,
});
export const notification = (method: string) => ({ jsonrpc: '2.0' as const, method });
export const result = (id: unknown, value: Record<string, unknown> = {}) => ({ jsonrpc: '2.0', id, result: value });
export const initialize = request(0, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});
