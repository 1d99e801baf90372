/** Signing in over JSON lines: a host in any language shows the url, and Holdfast waits for the browser. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AuthorizationServer } from '../integration/sign-in/authorization-server.ts';
import { browse } from '../integration/sign-in/browser.ts';
import { GuardedServer } from '../integration/sign-in/guarded-server.ts';
import { isRecord } from '../../src/domain/json.ts';
import { TestHost } from './jsonl-host.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-jsonl-'));
  vi.stubEnv('XDG_CONFIG_HOME', directory);
  vi.stubEnv('APPDATA', directory);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

test('CL-2 AU-3 authorize puts a question, and is answered when the browser is back', async () => {
  await using authorizationServer = await AuthorizationServer.start();
  await using server = await GuardedServer.start({ script: { tools: ['echo'] }, authorizationServer });
  const host = new TestHost({ servers: { notes: { url: server.url } } });
  await host.result('ready');
  const authorized = host.ask('authorize', { server: 'notes', scopes: ['mcp:read'] });
  const { elicitation } = await host.event('elicitation.opened');
  const url = isRecord(elicitation) ? String(elicitation['url']) : '';
  expect(new URL(url).searchParams.get('scope')).toContain('mcp:read');
  await browse(url);
  expect(await authorized).toMatchObject({ ok: true, result: {} });
  expect(host.indexOfEvent('elicitation.settled')).toBeLessThan(host.records.length - 1);
  expect(await host.result('beginStep')).toMatchObject({ tools: [{ server: 'notes', tool: 'echo' }] });
  expect(await host.result('finishAuthorization', { url })).toEqual({ status: 'unknown' });
  expect(await host.close()).toBe(0);
});

test('CL-2 AU-3 authorize can be aborted, and says what is wrong with its fields', async () => {
  await using authorizationServer = await AuthorizationServer.start();
  await using server = await GuardedServer.start({ script: { tools: ['echo'] }, authorizationServer });
  const host = new TestHost({ servers: { notes: { url: server.url } } });
  await host.result('ready');
  expect(await host.ask('authorize', { server: 'notes', scopes: 'mcp:read' })).toMatchObject({
    error: { code: 'invalid_argument' },
  });
  host.write({ id: 'a', do: 'authorize', server: 'notes' });
  await host.event('elicitation.opened');
  expect(await host.result('abort', { target: 'a' })).toEqual({ aborted: true });
  expect(await host.reply('a')).toMatchObject({ error: { code: 'aborted' } });
  expect(await host.close()).toBe(0);
});
