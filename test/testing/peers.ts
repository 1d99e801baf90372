/** Ways for the tests of the test kit to reach a scripted server with the plain SDK client. */
import type { ElicitResult } from '@modelcontextprotocol/client';
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ScriptedServer, ServerScript } from '../../src/testing/index.ts';
import { scriptedServer, serveHttp, stdioServerConfig } from '../../src/testing/index.ts';

export interface Peer extends AsyncDisposable {
  readonly client: Client;
  /** Every question the client was asked. */
  readonly questions: Record<string, unknown>[];
  /** Calls a tool; gives the text of the result. */
  call(name: string, args?: Record<string, unknown>): Promise<string>;
}

export type Answer = (params: Record<string, unknown>) => ElicitResult | Promise<ElicitResult>;

export const ada: ElicitResult = { action: 'accept', content: { name: 'Ada' } };

export interface PeerOptions {
  readonly answer?: Answer;
  readonly mode?: 'auto' | 'legacy';
  /** Called with every notification of these methods. */
  readonly onNotification?: (method: string, params: unknown) => void;
}

export function makeClient(options: PeerOptions = {}): Pick<Peer, 'client' | 'questions' | 'call'> {
  const questions: Record<string, unknown>[] = [];
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      versionNegotiation: { mode: options.mode ?? 'auto' },
    },
  );
  client.setRequestHandler('elicitation/create', async (request) => {
    questions.push({ ...request.params });
    return options.answer === undefined ? ada : options.answer({ ...request.params });
  });
  client.setRequestHandler('sampling/createMessage', () => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: 'hello' },
  }));
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }));
  client.fallbackNotificationHandler = ({ method, params }) => {
    options.onNotification?.(method, params);
    return Promise.resolve();
  };
  const call: Peer['call'] = async (name, args = {}) => {
    const result = await client.callTool({ name, arguments: args });
    return result.content.map((part) => (part.type === 'text' ? part.text : part.type)).join('');
  };
  return { client, questions, call };
}

/** Connects a client to a new connection of a server in this process. */
export async function connectInMemory(server: ScriptedServer, options: PeerOptions = {}): Promise<Peer> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const factory = await server.config.inMemory();
  await factory.connect(far as never);
  const peer = makeClient(options);
  await peer.client.connect(near);
  return { ...peer, [Symbol.asyncDispose]: () => peer.client.close() };
}

export async function inMemory(script: ServerScript, options: PeerOptions = {}): Promise<Peer> {
  const server = scriptedServer(script);
  const peer = await connectInMemory(server, options);
  return { ...peer, [Symbol.asyncDispose]: () => server.close() };
}

export async function overStdio(script: ServerScript, options: PeerOptions = {}): Promise<Peer> {
  const { command, args } = stdioServerConfig(script);
  const transport = new StdioClientTransport({ command, args: [...(args ?? [])], stderr: 'ignore' });
  const peer = makeClient(options);
  await peer.client.connect(transport);
  return { ...peer, [Symbol.asyncDispose]: () => peer.client.close() };
}

export async function connectHttp(url: string, options: PeerOptions = {}): Promise<Peer> {
  const peer = makeClient(options);
  await peer.client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { ...peer, [Symbol.asyncDispose]: () => peer.client.close() };
}

export async function overHttp(script: ServerScript, options: PeerOptions = {}): Promise<Peer> {
  const server = await serveHttp(script);
  const peer = await connectHttp(server.url, options);
  return {
    ...peer,
    [Symbol.asyncDispose]: async () => {
      await peer.client.close();
      await server.close();
    },
  };
}
