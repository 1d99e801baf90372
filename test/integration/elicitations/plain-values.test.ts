/** What is no secret is shown as it is: folders, and the names a caller or a model must give back. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { InspectionFrame } from '../../../src/index.ts';
import { stdioServerConfig } from '../../../src/testing/index.ts';
import { entryOf, skillsPeer, skillText } from '../world/support.ts';
import { errorOf, eras, turn, watched } from './support.ts';

describe('SE-1 a place', () => {
  test('SE-1 WS-1 of this machine in a configuration is no secret: it is shown as it is, everywhere', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-place-'));
    try {
      const env = { PROJECT_ROOT: process.cwd(), ABOVE: dirname(process.cwd()), HOUSE: homedir(), DATA: folder };
      const missing = join(folder, 'hunter2-hunter2');
      await using watch = watched({
        servers: { docs: { ...stdioServerConfig(), env: { ...env, GONE: missing }, parallel: true } },
      });
      const step = await watch.thread.beginStep();
      expect(step.worldState['environments']).toEqual({ local: { state: 'ready', cwd: process.cwd() } });
      const message = `${folder} of ${process.cwd()} and not ${missing}`;
      const error = await errorOf(step.callTool('mcp__docs__throwError', { message, data: env }));
      expect(error.message).toContain(`${folder} of ${process.cwd()} and not [redacted]`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('SE-1 WS-1 stays whole when the name of one of its folders is a secret', async () => {
    const secrets = [process.cwd().slice(0, 8), process.cwd().slice(-8)];
    await using watch = watched({ servers: { docs: stdioServerConfig() }, secrets });
    const step = await watch.thread.beginStep();
    expect(step.worldState['environments']).toEqual({ local: { state: 'ready', cwd: process.cwd() } });
  });

  // What is shorter than 8 characters is no secret.
  const isLong = process.cwd().length >= 8;
  test.skipIf(!isLong)(
    'SE-1 WS-1 that the caller names as secret is one, save for where it is an identifier',
    async () => {
      await using watch = watched({ servers: { docs: stdioServerConfig() }, secrets: [process.cwd()] });
      const step = await watch.thread.beginStep();
      const error = await errorOf(step.callTool('mcp__docs__throwError', { message: `in ${process.cwd()}/x` }));
      expect(error.message).not.toContain(process.cwd());
      expect(step.worldState['environments']).toEqual({ local: { state: 'ready', cwd: process.cwd() } });
    },
  );
});

describe.each(eras)('SE-1 a name in the %s era', (era) => {
  test('SE-1 NM-1 of a server that equals a secret stays as it is where it is given back, and is hidden in texts', async () => {
    const frames: InspectionFrame[] = [];
    await using watch = watched({
      servers: {
        'refunds-x': { ...stdioServerConfig({ era }), env: { SRV: 'refunds-x', PART: 'efunds-x' } },
        'off-refunds-x': { command: 'node', enabled: false },
      },
      misconfigured: { 'bad-refunds-x': { code: 'server_misconfigured', message: 'No.', retryable: false } },
      inspect: (frame) => frames.push(frame),
    });
    const { thread } = watch;
    const step = await thread.beginStep();
    expect(new Set(step.tools.map(({ server }) => server))).toEqual(new Set(['refunds-x']));
    expect(step.worldState['servers']).toMatchObject({ 'refunds-x': { state: 'ready' } });
    expect(step.worldState['tools']).toHaveProperty('refunds-x');
    const names = thread.snapshot().servers.map(({ name }) => name);
    expect(names.toSorted()).toEqual(['bad-refunds-x', 'off-refunds-x', 'refunds-x']);
    const status = await thread.status({ detail: 'tools', servers: ['refunds-x'] });
    expect(status.servers[0]?.toolList).toContainEqual(
      expect.objectContaining({ tool: 'echo', name: 'mcp__refunds-x__echo' }),
    );
    const error = await errorOf(
      step.callTool('mcp__refunds-x__throwError', { message: 'the key refunds-x is not efunds-x' }),
    );
    expect(error.message).toContain('the key [redacted] is not [redacted]');
    await turn();
    expect(watch.events).toContainEqual(
      expect.objectContaining({ type: 'call.started', name: 'mcp__refunds-x__throwError', server: 'refunds-x' }),
    );
    expect(JSON.stringify([watch.events, frames, thread.snapshot()])).not.toContain('key refunds-x');
  });
});

test('SE-1 WS-2 the id of a skill can be given back when the name of its server equals a secret', async () => {
  const uri = 'skill://shop/SKILL.md';
  const frontmatter = { name: 'shop', description: 'Buys.' };
  const peer = skillsPeer({ [uri]: skillText(frontmatter) });
  peer.skills = [entryOf(peer, uri, frontmatter)];
  await using watch = watched({ servers: { 'refunds-x': peer.config }, secrets: ['refunds-x'] });
  const step = await watch.thread.beginStep();
  const [id = ''] = Object.keys(step.worldState['skills'] ?? {});
  expect(id).toBe('mcp:refunds-x/shop');
  expect((await step.readSkill(id)).text).toContain('Do it well.');
});

test('SE-1 user info of a url is shown nowhere, however short, whether it was configured or not', async () => {
  const http = createServer((_request, response) => {
    response.writeHead(500).end('no http://ann:pw1@db.example/x, no redis://:pw2@cache.example');
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const frames: InspectionFrame[] = [];
  try {
    await using watch = watched({
      servers: {
        web: { url: `http://ann:pw1@127.0.0.1:${String(port)}/mcp` },
        docs: stdioServerConfig({ exitOnStart: { code: 3, stderr: 'lost postgres://ann:pw/3@db.example/x\n' } }),
        up: stdioServerConfig(),
      },
      inspect: (frame) => frames.push(frame),
    });
    const step = await watch.thread.beginStep();
    const message = 'sent to https://ann:pw4@a.example/x?mail=a@b.example';
    const error = await errorOf(step.callTool('mcp__up__throwError', { message }));
    expect(error.message).toContain('https://[redacted]@a.example/x?mail=a@b.example');
    const snapshot = watch.thread.snapshot();
    expect(JSON.stringify(snapshot.servers.find(({ name }) => name === 'docs'))).toContain(
      'lost postgres://[redacted]@db.example/x',
    );
    await turn();
    const shown = JSON.stringify([watch.events, frames, snapshot, error.message, error.stack, error.data]);
    for (const text of ['ann:', 'pw1', 'pw2', 'pw/3', 'pw4']) expect(shown).not.toContain(text);
  } finally {
    http.closeAllConnections();
    http.close();
  }
});
