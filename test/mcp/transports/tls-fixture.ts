/** Certificates and TLS servers, made for the test that uses them. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A self-signed certificate in files of its own. */
export interface Certificate extends Disposable {
  readonly file: string;
  readonly cert: string;
  readonly key: string;
}

/** Makes a certificate for `localhost` and 127.0.0.1, which is its own authority. */
export function makeCertificate(names = 'DNS:localhost,IP:127.0.0.1'): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'));
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${names}`];
  execFileSync('openssl', [...request, '-keyout', key, '-out', file, ...subject], { stdio: 'ignore' });
  return {
    file,
    cert: readFileSync(file, 'utf8'),
    key: readFileSync(key, 'utf8'),
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Serves a legacy MCP server without sessions, one tool `echo`, over TLS. */
export async function serveTls({ cert, key }: Certificate): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer({ cert, key }, (request, response) => {
    void answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port.');
  return {
    url: `https://127.0.0.1:${String(address.port)}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const rpc = JSON.parse(await text(request)) as { id?: unknown; method: string };
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'tls', version: '1' },
    },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'over TLS' }] },
  };
  if (rpc.id === undefined) response.writeHead(202).end();
  else {
    const result = results[rpc.method];
    const error = { code: -32_601, message: 'Method not found' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, ...(result === undefined ? { error } : { result }) }));
  }
}
