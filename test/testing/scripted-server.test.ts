import { describe, expect, test } from 'vitest';
import { deferred, scriptedServer } from '../../src/testing/index.ts';
import { ada, connectInMemory, inMemory, makeClient, overHttp } from './peers.ts';

describe('TK-1 the controls of a scripted server', () => {
  test('show parked calls and release them with a value', async () => {
    await using server = scriptedServer();
    const peer = await connectInMemory(server, { mode: 'legacy' });
    const calls = [peer.call('park', { key: 'a' }), peer.call('park', { key: 'a' })];
    await server.until((entry) => entry.kind === 'parked' && entry.call === 2);
    await server.untilParked('a');
    expect(server.parked).toEqual(['a', 'a']);
    server.release('a', 'both');
    expect(await Promise.all(calls)).toEqual(['both', 'both']);
    expect(server.parked).toEqual([]);
    expect(server.calls('park')).toBe(2);
    expect(server.calls()).toBe(2);
  });

  test('record calls, questions and aborts in order', async () => {
    await using server = scriptedServer({ era: 'modern' });
    const peer = await connectInMemory(server);
    await peer.call('ask');
    const abort = new AbortController();
    const hanging = peer.client.callTool({ name: 'hang', arguments: {} }, { signal: abort.signal });
    await server.until((entry) => entry.kind === 'called' && entry.tool === 'hang');
    abort.abort('cancelled');
    await expect(hanging).rejects.toThrow('cancelled');
    await server.until('cancelled');
    const kinds = server.journal
      .filter(({ call }) => call !== undefined)
      .map(({ kind, tool }) => `${kind} ${tool ?? ''}`.trim());
    expect(kinds.slice(0, 7)).toEqual([
      'called ask',
      'asked',
      'ended ask',
      'called ask',
      'answered',
      'ended ask',
      'called hang',
    ]);
    expect(kinds).toContain('cancelled hang');
    expect(server.journal.find(({ kind }) => kind === 'answered')?.value).toEqual(ada);
  });

  test('serve each connection on its own, and end them all', async () => {
    const server = scriptedServer();
    const first = await connectInMemory(server, { mode: 'legacy' });
    const second = await connectInMemory(server, { mode: 'legacy' });
    expect(server.connections).toBe(2);
    await first.client.close();
    await server.until('closed');
    expect(server.connections).toBe(1);
    const open = second.call('hang');
    await server.until('called');
    await server.crash();
    await expect(open).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(server.connections).toBe(0);
  });

  test('hold connections back until the gate opens', async () => {
    const gate = deferred();
    await using server = scriptedServer({}, { gate: gate.promise });
    const connecting = connectInMemory(server, { mode: 'legacy' });
    await server.until('started');
    expect(server.journal.map(({ kind }) => kind)).toEqual(['started']);
    gate.resolve();
    expect(await (await connecting).call('echo', { text: 'open' })).toBe('open');
  });

  test('close connections whose gate never opens', async () => {
    const gate = deferred();
    await using server = scriptedServer({}, { gate: gate.promise });
    const connecting = connectInMemory(server, { mode: 'legacy' });
    await server.until('started');
    gate.reject(new Error('stuck'));
    await expect(connecting).rejects.toBeInstanceOf(Error);
    expect(server.connections).toBe(0);
  });
});

for (const era of ['legacy', 'modern'] as const) {
  const mode = era === 'legacy' ? 'legacy' : 'auto';

  describe(`TK-1 a ${era} scripted server`, () => {
    test('tells its clients when its tools or resources change', async () => {
      const heard: string[] = [];
      const changed = deferred();
      const updated = deferred();
      await using server = scriptedServer({ era });
      const peer = await connectInMemory(server, { mode });
      peer.client.setNotificationHandler('notifications/tools/list_changed', () => {
        heard.push('tools');
        if (heard.length === 2) changed.resolve();
      });
      peer.client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        heard.push(params.uri);
        updated.resolve();
      });
      if (era === 'modern') {
        await peer.client.listen({ toolsListChanged: true, resourceSubscriptions: ['test://static'] });
      }
      await peer.call('addTool', { name: 'extra' });
      await server.removeTool('echo');
      await changed.promise;
      const names = (await peer.client.listTools()).tools.map((tool) => tool.name);
      expect(names).toContain('extra');
      expect(names).not.toContain('echo');
      expect(await peer.call('extra', { n: 1 })).toBe('{"n":1}');
      await peer.call('updateResource', { uri: 'test://static' });
      await updated.promise;
      expect(heard).toEqual(['tools', 'tools', 'test://static']);
    });

    test('pages its listing, and repeats or never ends it as told', async () => {
      await using paged = await inMemory({ era, tools: ['echo', 'park', 'ask'], listing: { pageSize: 2 } }, { mode });
      const page = await paged.client.request({ method: 'tools/list' });
      expect(page.tools.map((tool) => tool.name)).toEqual(['echo', 'park']);
      expect(
        (await paged.client.request({ method: 'tools/list', params: { cursor: page.nextCursor } })).tools,
      ).toHaveLength(1);
      await using repeated = await inMemory({ era, listing: { repeatedCursor: true } }, { mode });
      const again = await repeated.client.request({ method: 'tools/list', params: { cursor: '1' } });
      expect(again.nextCursor).toBe('1');
      await using endless = await inMemory({ era, tools: [], listing: { endless: true } }, { mode });
      expect(await endless.client.request({ method: 'tools/list', params: { cursor: '500' } })).toMatchObject({
        tools: [{ name: 'endless-500' }],
        nextCursor: '501',
      });
    });

    test('fails its listing as often as told', async () => {
      await using peer = await inMemory({ era, listing: { fails: 1 } }, { mode });
      await expect(peer.client.request({ method: 'tools/list' })).rejects.toMatchObject({ code: -32_603 });
      expect((await peer.client.listTools()).tools.length).toBeGreaterThan(0);
    });

    test('lists many tools, and tools exactly as given', async () => {
      const odd = { name: 'odd', inputSchema: { type: 'object' }, extra: [1, 2] };
      await using peer = await inMemory({ era, tools: [], manyTools: 3, extraTools: [odd] }, { mode });
      const { tools } = await peer.client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual(['tool-0', 'tool-1', 'tool-2', 'odd']);
      expect(await peer.call('tool-1', { a: 1 })).toBe('{"a":1}');
      expect(await peer.call('odd', { a: 1 })).toBe('{"a":1}');
    });

    test('closes at the start when told', async () => {
      const server = scriptedServer({ era, exitOnStart: {} });
      await expect(connectInMemory(server, { mode })).rejects.toBeInstanceOf(Error);
      expect(server.connections).toBe(0);
    });

    test('never answers the handshake when told', async () => {
      await using server = scriptedServer({ era, hangOnStart: true });
      const connecting = connectInMemory(server, { mode });
      await server.until('started');
      await server.close();
      await expect(connecting).rejects.toBeInstanceOf(Error);
      expect(server.journal.map(({ kind }) => kind)).toEqual(['started']);
    });

    test('drops its connection when it crashes', async () => {
      await using server = scriptedServer({ era });
      const peer = await connectInMemory(server, { mode });
      await expect(peer.call('crash')).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
      expect(server.journal.map(({ kind }) => kind)).toContain('crashed');
    });

    test('refuses what only a process can do', async () => {
      await using peer = await inMemory({ era }, { mode });
      expect(await peer.client.callTool({ name: 'fork', arguments: {} })).toMatchObject({ isError: true });
      expect(await peer.client.callTool({ name: 'flood', arguments: {} })).toMatchObject({ isError: true });
    });
  });
}

describe('TK-1 a legacy scripted server', () => {
  test('asks right after the handshake when told', async () => {
    await using server = scriptedServer({ askOnStart: { message: 'Ready?' } });
    const peer = await connectInMemory(server, { mode: 'legacy' });
    expect((await server.until('answered')).value).toEqual(ada);
    expect(peer.questions[0]).toMatchObject({ message: 'Ready?' });
  });

  test('needs its urls opened first, until each is complete', async () => {
    await using server = scriptedServer();
    const done: string[] = [];
    const told = deferred();
    const peer = await connectInMemory(server, { mode: 'legacy' });
    peer.client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      done.push(params.elicitationId);
      told.resolve();
    });
    const args = { urls: [{ url: 'https://example.com/1', elicitationId: 'one' }, { elicitationId: 'two' }] };
    await expect(peer.call('requireUrl', args)).rejects.toMatchObject({
      code: -32_042,
      data: { elicitations: [{ url: 'https://example.com/1', elicitationId: 'one' }, { elicitationId: 'two' }] },
    });
    await server.completeUrl('one');
    await expect(peer.call('requireUrl', args)).rejects.toMatchObject({
      data: { elicitations: [{ elicitationId: 'two' }] },
    });
    await peer.call('complete', { elicitationId: 'two' });
    expect(await peer.call('requireUrl', args)).toBe('authorized');
    await told.promise;
    expect(done).toEqual(['one', 'two']);
    const once = { urls: [{ elicitationId: 'three' }], autoComplete: true };
    await expect(peer.call('requireUrl', once)).rejects.toMatchObject({ code: -32_042 });
    expect(await peer.call('requireUrl', once)).toBe('authorized');
  });

  test('can leave the mode out of a form', async () => {
    const server = scriptedServer();
    const [near, far] = await linked();
    const seen: unknown[] = [];
    near.onmessage = (message) => seen.push(message);
    await near.start();
    await (await server.config.inMemory()).connect(far as never);
    const params = { name: 'ask', arguments: { modeless: true } };
    await near.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    await server.until('asked');
    expect(seen).toMatchObject([{ method: 'elicitation/create', params: { message: 'What is your name?' } }]);
    expect(seen).not.toMatchObject([{ params: { mode: 'form' } }]);
    await server.close();
  });

  test('takes a question back when its call is aborted', async () => {
    await using server = scriptedServer();
    const withdrawn = deferred();
    const shown = deferred();
    const peer = makeClient({ mode: 'legacy' });
    peer.client.setRequestHandler('elicitation/create', (_request, ctx) => {
      ctx.mcpReq.signal.addEventListener('abort', () => withdrawn.resolve());
      shown.resolve();
      return new Promise<never>(() => undefined);
    });
    const [near, far] = await linked();
    await (await server.config.inMemory()).connect(far as never);
    await peer.client.connect(near);
    const abort = new AbortController();
    const asking = peer.client.callTool({ name: 'ask', arguments: {} }, { signal: abort.signal });
    await shown.promise;
    abort.abort('cancelled');
    await expect(asking).rejects.toThrow('cancelled');
    await withdrawn.promise;
  });

  test('sends log messages', async () => {
    const logged = deferred<unknown>();
    await using peer = await inMemory({}, { mode: 'legacy' });
    peer.client.setNotificationHandler('notifications/message', ({ params }) => logged.resolve(params));
    await peer.call('log', { data: { a: 1 }, logger: 'me' });
    expect(await logged.promise).toEqual({ level: 'info', logger: 'me', data: { a: 1 } });
  });
});

describe('TK-1 a modern scripted server', () => {
  test('asks for the url it needs', async () => {
    await using peer = await inMemory({ era: 'modern' }, { answer: () => ({ action: 'decline' }) });
    expect(JSON.parse(await peer.call('requireUrl', { urls: [{ url: 'https://example.com/1' }] }))).toEqual({
      action: 'decline',
    });
    expect(peer.questions[0]).toMatchObject({ mode: 'url', url: 'https://example.com/1' });
  });

  test('refuses a state it did not make', async () => {
    await using peer = await overHttp({ era: 'modern' });
    const call = { name: 'ask', arguments: {}, requestState: 'forged', inputResponses: {} };
    await expect(peer.client.callTool(call)).rejects.toMatchObject({ code: -32_602 });
  });

  test('refuses the legacy handshake', async () => {
    const server = scriptedServer({ era: 'modern' });
    await expect(connectInMemory(server, { mode: 'legacy' })).rejects.toBeInstanceOf(Error);
    await server.close();
  });
});

test('TK-1 a scripted server of both eras speaks the one its client chooses', async () => {
  await using legacy = await inMemory({ era: 'both' }, { mode: 'legacy' });
  await using modern = await inMemory({ era: 'both' });
  expect([legacy.client.getProtocolEra(), modern.client.getProtocolEra()]).toEqual(['legacy', 'modern']);
});

async function linked() {
  const { InMemoryTransport } = await import('@modelcontextprotocol/client');
  return InMemoryTransport.createLinkedPair();
}
