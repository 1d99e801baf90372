/** Answers the handshake of Holdfast with what the client learned in its own. */
import type { V1Client, V1Transport } from './v1-client.ts';

type Frame = Readonly<Record<string, unknown>>;

/** The newest revision SDK 1.x speaks; a v1 client does not tell which one it agreed on, but over HTTP. */
const newestV1Revision = '2025-11-25';

/** The answer to a message of the handshake; `nothing` for one that has none; `undefined` for any other message. */
export function handshakeReply(
  { id, method }: Frame,
  client: V1Client,
  transport: V1Transport,
): Frame | 'nothing' | undefined {
  if (method === 'notifications/initialized') return 'nothing';
  if (method !== 'initialize') return undefined;
  const instructions = client.getInstructions();
  return {
    jsonrpc: '2.0',
    id,
    result: {
      protocolVersion: revisionOf(transport),
      capabilities: client.getServerCapabilities() ?? {},
      serverInfo: client.getServerVersion() ?? { name: 'unknown', version: '0' },
      ...(instructions === undefined ? {} : { instructions }),
    },
  };
}

/** What a server of the legacy era says to a method it does not know. */
export function methodNotFound({ id }: Frame): Frame {
  return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } };
}

function revisionOf({ protocolVersion }: V1Transport): string {
  return typeof protocolVersion === 'string' ? protocolVersion : newestV1Revision;
}
