import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config/index.ts';
import { createThread } from '../../../src/index.ts';
import { serveHttp } from '../../../src/testing/index.ts';
import { plainHttp, reply } from './plain-http.ts';
import type { PlainHttp } from './plain-http.ts';
import { Watch, errorOf, serverOf, textOf } from './support.ts';

/** A server that takes one key, and refuses calls with any other. */
async function locked(key: () => string): Promise<PlainHttp> {
  return plainHttp({
    'tools/call': (request, response) => {
      if (request.headers['x-key'] === key()) reply(request, response, { content: [{ type: 'text', text: 'open' }] });
      else response.writeHead(401).end();
    },
  });
}

test('CN-7 a 401 has the headers helper run once, and the request is sent again with what it gave', async () => {
  let key = 'first-key-of-all';
  let runs = 0;
  await using server = await locked(() => key);
  const renewHeaders = async (): Promise<Record<string, string>> => {
    runs += 1;
    return Promise.resolve({ 'x-key': key });
  };
  const config = { url: server.url, headers: { 'x-key': key }, parallel: true, renewHeaders };
  await using thread = createThread({ servers: { a: config } });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  await step.callTool('mcp__a__echo');
  expect(runs).toBe(0);
  key = 'second-key-of-all';
  const results = await Promise.all([1, 2, 3].map(() => step.callTool('mcp__a__echo')));
  expect(results.map(textOf)).toEqual(['open', 'open', 'open']);
  expect(runs).toBe(1);
  await step.callTool('mcp__a__echo');
  expect(runs).toBe(1);
  expect(serverOf(thread, 'a').state).toBe('ready');
  expect(JSON.stringify(watch.facts)).not.toContain('second-key');
});

test('CN-7 a server that refuses the new headers too is not asked for ever', async () => {
  let runs = 0;
  await using server = await locked(() => 'a key nobody has');
  const renewHeaders = async (): Promise<Record<string, string>> => {
    runs += 1;
    return Promise.resolve({ 'x-key': 'wrong' });
  };
  await using thread = createThread({
    servers: { a: { url: server.url, headers: { 'x-key': 'old' }, renewHeaders } },
  });
  const step = await thread.beginStep();
  for (let call = 0; call < 3; call++)
    expect((await errorOf(step.callTool('mcp__a__echo'))).code).toBe('auth_required');
  expect(runs).toBe(1);
  expect(server.count('tools/call')).toBe(4);
});

test('CN-7 a helper that fails leaves the refusal as it is, with a warning', async () => {
  await using server = await locked(() => 'a key nobody has');
  const renewHeaders = (): Promise<never> => Promise.reject(new Error('no key today'));
  await using thread = createThread({
    servers: { a: { url: server.url, headers: { 'x-key': 'old' }, renewHeaders } },
  });
  const watch = new Watch(thread);
  const step = await thread.beginStep();
  expect((await errorOf(step.callTool('mcp__a__echo'))).code).toBe('auth_required');
  const warning = await watch.until((fact) => fact.type === 'warning' && fact.code === 'headers_helper');
  expect(JSON.stringify(warning)).toContain('no key today');
});

test('CA-3 CN-7 the helper of a file runs only with consent, and again when the server refuses what it printed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-helper-'));
  try {
    await using server = await serveHttp({ tools: ['echo'] });
    const file = join(folder, 'holdfast.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { a: { url: server.url, headersHelper: 'print-key' } } }));
    const plain = await readConfig([file]);
    expect(plain.servers['a']).toEqual({ url: server.url });
    const ran: string[] = [];
    const runCommand = async ({ command }: { readonly command: string }): Promise<string> => {
      ran.push(command);
      return Promise.resolve(JSON.stringify({ 'x-key': `key-number-${String(ran.length)}` }));
    };
    const config = await readConfig([file], { runCommand });
    await using thread = createThread({ servers: config.servers, secrets: [...config.secrets] });
    const step = await thread.beginStep();
    server.setStatus(401, { rpcMethod: 'tools/call' });
    await step.callTool('mcp__a__echo');
    expect(ran).toEqual(['print-key', 'print-key']);
    const keys = server.requests
      .filter(({ rpcMethods }) => rpcMethods.includes('tools/call'))
      .map(({ headers }) => headers['x-key']);
    expect(keys).toEqual(['key-number-1', 'key-number-2']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
