import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedServer, type ScriptedServer, type ServerScript } from 'holdfast/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { type Record_, TestHost, type TestHostOptions, toolName } from './jsonl-host.ts';

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

function serve(script: ServerScript = {}): ScriptedServer {
  const server = scriptedServer(script);
  endings.push(async () => server.close());
  return server;
}

function start(options: TestHostOptions = {}): TestHost {
  const host = new TestHost(options);
  endings.push(async () => host.close());
  return host;
}

async function begin(host: TestHost): Promise<{ step: unknown; nameOf: (tool: string, server?: string) => string }> {
  const reply = await host.result('beginStep');
  return { step: reply['step'], nameOf: (tool, server = 'one') => toolName(reply, server, tool) };
}

/** Begins a step, calls `park` on it under an id, and waits until it is on the wire. */
async function park(host: TestHost, id: string | number, server: ScriptedServer): Promise<unknown> {
  const { step, nameOf } = await begin(host);
  host.write({ id, do: 'callTool', step, name: nameOf('park'), args: { key: String(id) } });
  await server.untilParked(String(id));
  return step;
}

function codeOf(reply: Record_): unknown {
  const { error } = reply;
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function messageOf(reply: Record_): unknown {
  const { error } = reply;
  return typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
}

describe('requests', () => {
  test('CL-2 makes the library available: ready, step, call, end', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    expect(await host.result('ready')).toEqual({ generation: 1 });
    const step = await host.result('beginStep');
    expect(step).toMatchObject({ generation: 1, worldState: {} });
    const name = toolName(step, 'one', 'echo');
    const call = { step: step['step'], name, args: { text: 'hello' } };
    expect(await host.result('callTool', call)).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
    expect(await host.result('endStep', { step: step['step'] })).toEqual({});
    expect(await host.result('endStep', { step: step['step'] })).toEqual({});
    expect(codeOf(await host.ask('callTool', call))).toBe('step_ended');
    expect(await host.result('snapshot')).toMatchObject({ version: 1, state: 'active', generation: 1, steps: [] });
  });

  test('CL-2 echoes ids as they came, numbers beyond doubles too, in events as well', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    const { step, nameOf } = await begin(host);
    const rest = `"do":"callTool","step":${JSON.stringify(step)},"name":${JSON.stringify(nameOf('echo'))}}`;
    host.write(`{"id":9007199254740993,${rest}`, `{"id":"ü\\u0000","do":"snapshot"}`);
    await host.reply('ü\u0000');
    await host.event('call.ended');
    await host.when((record) => record['ok'] === true && 'id' in record && record['id'] === Number('9007199254740993'));
    expect(host.lines.some((line) => line.startsWith('{"id":9007199254740993,"ok":true'))).toBe(true);
    expect(host.lines.some((line) => line.includes('"request":9007199254740993'))).toBe(true);
  });

  test('CL-2 refuses an id that is still open, and the open request goes on', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    await park(host, 7, server);
    host.write({ id: 7, do: 'snapshot' });
    expect(codeOf(await host.reply(7))).toBe('invalid_request');
    server.release('7', 'late');
    const reply = await host.when((record) => record['id'] === 7 && record['ok'] === true);
    expect(reply).toMatchObject({ result: { content: [{ text: 'late' }] } });
  });

  test('CL-2 answers what is no request, and is disturbed by nothing', async () => {
    const host = start();
    host.write(
      'nonsense',
      '',
      '  ',
      '[]',
      '{"id":1}',
      '{"id":2,"do":"fly"}',
      '{"id":[],"do":"ready"}',
      '{"id":3,"do":"constructor"}',
    );
    host.stdin.write(Buffer.from([0xff, 0x0a]));
    host.write({ id: 4, do: 'snapshot' });
    await host.reply(4);
    expect(host.records.filter((record) => 'id' in record).map((record) => [record['id'], codeOf(record)])).toEqual([
      [null, 'invalid_request'],
      [null, 'invalid_request'],
      [1, 'invalid_request'],
      [2, 'unknown_request'],
      [null, 'invalid_request'],
      [3, 'unknown_request'],
      [null, 'invalid_request'],
      [4, undefined],
    ]);
  });

  test.each<[string, Record_, string]>([
    ['callTool', {}, 'invalid_argument'],
    ['callTool', { step: 'none', name: 'x' }, 'unknown_step'],
    ['ready', { timeoutMs: '5' }, 'invalid_argument'],
    ['beginStep', { timeoutMs: -1 }, 'invalid_argument'],
    ['endStep', { step: 'none' }, 'unknown_step'],
    ['abort', {}, 'invalid_argument'],
    ['respond', { token: 1, answer: {} }, 'invalid_argument'],
    ['replace', {}, 'invalid_argument'],
    ['replace', { servers: [] }, 'invalid_argument'],
    ['replace', { servers: {}, files: ['x'] }, 'invalid_argument'],
    ['replace', { servers: {}, publish: 'later' }, 'invalid_argument'],
    ['replace', { servers: { a: { command: 'x', url: 'http://127.0.0.1' } } }, 'config_invalid'],
    ['replace', { files: ['/nowhere/holdfast.json'] }, 'config_invalid'],
    ['setRoots', { roots: [{ uri: 'https://x' }] }, 'invalid_argument'],
    ['listTools', { server: 1 }, 'invalid_argument'],
    ['runTurn', { input: 'hello' }, 'unsupported'],
  ])('CL-2 refuses %s with %o as %s', async (name, fields, code) => {
    const host = start();
    expect(codeOf(await host.ask(name, fields))).toBe(code);
  });

  test.each<[string, Record_, string]>([
    ['ready', { timeoutMs: 1.5 }, '"/timeoutMs" expected whole milliseconds from 1 to 2147483647, got 1.5.'],
    ['ready', { timeoutMs: '5' }, '"/timeoutMs" expected whole milliseconds from 1 to 2147483647, got a string.'],
    ['ready', { timeoutMs: 0 }, '"/timeoutMs" expected whole milliseconds from 1 to 2147483647, got 0.'],
    ['endStep', {}, '"/step" expected a string, got nothing.'],
    [
      'listTools',
      { server: {}, all: 1 },
      '"/server" expected a string, got an object; "/all" expected true or false, got 1.',
    ],
    ['getPrompt', { server: 's', name: 'n', args: { a: [] } }, '"/args/a" expected a string, got a list.'],
    ['respond', { token: 't', answer: 'yes' }, '"/answer" expected an object, got a string.'],
    ['replace', { servers: {}, publish: 'later' }, '"/publish" expected "settled" or "immediate", got "later".'],
    ['replace', { files: [] }, '"/files" expected at least one file, got none.'],
    ['setRoots', { roots: null }, '"/roots" expected a list, got null.'],
    ['setRoots', { roots: [{ uri: 'http://x' }] }, '"/roots/0/uri" expected a "file://" uri, got "http://x".'],
    ['abort', {}, '"/target" expected the id of a request: a number or a string, got nothing.'],
  ])('CL-2 says of %s with %o what was expected and what came', async (name, fields, said) => {
    const host = start();
    expect(messageOf(await host.ask(name, fields))).toBe(`Request "${name}": ${said} Mend it and send it again.`);
  });

  test('CL-2 names what came instead of a request', async () => {
    const host = start();
    host.write({ id: 1, do: {} });
    expect(messageOf(await host.reply(1))).toContain('got an object.');
  });

  test('CL-2 says in `outcome` whether a request reached a server, of those only that go to one', async () => {
    const host = start();
    for (const name of ['endStep', 'restartServer', 'beginStep', 'replace', 'setRoots', 'abort'])
      expect((await host.ask(name, { step: 'none', server: 'none', timeoutMs: -1 }))['error']).not.toHaveProperty(
        'outcome',
      );
    for (const name of ['callTool', 'listTools', 'readResource'])
      expect((await host.ask(name, { step: 'none', server: 'none', name: 'x', uri: 'x' }))['error']).toHaveProperty(
        'outcome',
        'not-sent',
      );
  });

  test('CL-2 RT-8 refuses arguments of a call that are no object, as not sent', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    const { step, nameOf } = await begin(host);
    for (const args of [null, 'x', [1], 5]) {
      const { error } = await host.ask('callTool', { step, name: nameOf('echo'), args });
      expect(error).toMatchObject({ code: 'invalid_arguments', outcome: 'not-sent', retryable: false });
    }
    expect((await host.ask('callTool', { step, name: 'no_such_tool' }))['error']).toMatchObject({
      code: 'unknown_tool',
      outcome: 'not-sent',
    });
  });

  test('CL-2 passes the requests of MCP on, for a step and for the current runtime', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    const { step } = await begin(host);
    expect(await host.result('listTools', { step, server: 'one' })).toHaveProperty('tools');
    expect(await host.result('listTools', { server: 'one', all: true })).toHaveProperty('tools');
    expect(codeOf(await host.ask('listTools', { server: 'none' }))).toBeDefined();
  });
});

describe('abort', () => {
  test('CL-2 answers the aborted call first, with `aborted`', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    await park(host, 1, server);
    host.write({ id: 2, do: 'abort', target: 1 });
    expect(await host.reply(2)).toMatchObject({ ok: true, result: { aborted: true } });
    expect(codeOf(await host.reply(1))).toBe('aborted');
    expect(messageOf(await host.reply(1))).toContain('was aborted: request 2 asked for it.');
    expect(host.indexOfReply(1)).toBeLessThan(host.indexOfReply(2));
    expect(host.indexOfEvent('call.ended')).toBeLessThan(host.indexOfReply(1));
  });

  test('CL-2 aborts a wait for a runtime, and knows what it cannot abort', async () => {
    const server = serve({ hangOnStart: true });
    const host = start({ servers: { one: { ...server.config, required: true } } });
    host.write({ id: 1, do: 'ready' }, { id: '1', do: 'beginStep' }, { id: 2, do: 'abort', target: 1 });
    expect(await host.reply(2)).toMatchObject({ result: { aborted: true } });
    expect(codeOf(await host.reply(1))).toBe('aborted');
    host.write({ id: 3, do: 'abort', target: '1' });
    expect(await host.reply(3)).toMatchObject({ result: { aborted: true } });
    expect(codeOf(await host.reply('1'))).toBe('aborted');
    expect(await host.result('abort', { target: 99 })).toEqual({ aborted: false });
  });
});

describe('questions', () => {
  test('CL-2 shows a question beside its call, and settles it before the replies that depend on it', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    const { step, nameOf } = await begin(host);
    host.write({ id: 'call', do: 'callTool', step, name: nameOf('ask') });
    const opened = await host.event('elicitation.opened');
    const { elicitation } = opened;
    expect(elicitation).toMatchObject({
      kind: 'form',
      server: 'one',
      attribution: 'call',
      request: 'call',
      generation: 1,
    });
    const token =
      typeof elicitation === 'object' && elicitation !== null && 'token' in elicitation ? elicitation.token : undefined;
    expect(await host.result('respond', { token, answer: { action: 'maybe' } })).toMatchObject({
      status: 'invalid',
      issues: [{ path: '/action' }],
    });
    expect(await host.result('respond', { token, answer: { action: 'accept', content: {} } })).toMatchObject({
      status: 'invalid',
    });
    expect(await host.result('respond', { token: 'elc_other', answer: { action: 'decline' } })).toEqual({
      status: 'unknown',
    });
    host.write({ id: 'answer', do: 'respond', token, answer: { action: 'accept', content: { name: 'Ada' } } });
    expect(await host.reply('answer')).toMatchObject({ result: { status: 'delivered' } });
    expect(await host.reply('call')).toMatchObject({ ok: true });
    expect(host.indexOfEvent('elicitation.settled')).toBeLessThan(host.indexOfReply('answer'));
    expect(host.indexOfEvent('elicitation.settled')).toBeLessThan(host.indexOfReply('call'));
    expect(host.indexOfEvent('call.ended')).toBeLessThan(host.indexOfReply('call'));
    expect(await host.result('respond', { token, answer: { action: 'decline' } })).toMatchObject({
      status: 'settled',
      outcome: 'accepted',
    });
  });

  test('CL-2 ends a step when its calls are answered', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    const step = await park(host, 'parked', server);
    host.write({ id: 'end', do: 'endStep', step });
    expect(await host.reply('end')).toMatchObject({ ok: true, result: {} });
    expect(host.indexOfReply('parked')).toBeLessThan(host.indexOfReply('end'));
    expect(codeOf(await host.reply('parked'))).toMatch(/aborted|step_ended/);
  });
});

describe('replace', () => {
  async function configFile(servers: Record_): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-host-'));
    endings.unshift(async () => rm(directory, { recursive: true, force: true }));
    const file = join(directory, 'holdfast.json');
    await writeFile(file, JSON.stringify({ mcpServers: servers }));
    return file;
  }

  test('CL-2 RT-4 hands a burst over in the order it came, whether it reads files or not', async () => {
    const host = start();
    await host.result('ready');
    const file = await configFile({ broken: { command: 'x', env: { A: '${HOLDFAST_TEST_NOT_SET}' } } });
    host.write(
      { id: 1, do: 'replace', files: [file] },
      { id: 2, do: 'replace', servers: {} },
      { id: 3, do: 'replace', files: [file] },
    );
    expect(await host.reply(1)).toMatchObject({ result: { status: 'superseded' } });
    expect(await host.reply(2)).toMatchObject({ result: { status: 'superseded' } });
    expect(await host.reply(3)).toMatchObject({ result: { status: 'published', replaced: 1 } });
    expect(host.indexOfEvent('runtime.published')).toBeLessThan(host.indexOfReply(3));
    const { servers } = await host.result('snapshot');
    expect(servers).toMatchObject([
      { name: 'broken', state: 'misconfigured', error: { code: 'server_misconfigured' } },
    ]);
  });

  test('CL-2 CA-3 shows a server whose variable is missing as misconfigured, beside its siblings', async () => {
    const server = serve();
    const file = await configFile({ bad: { command: 'x', args: ['${HOLDFAST_TEST_NOT_SET}'] } });
    const host = start({ servers: { one: server.config }, command: { config: [file] } });
    await host.result('ready');
    const { servers } = await host.result('snapshot');
    expect(servers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'one', state: 'ready' }),
        expect.objectContaining({ name: 'bad', state: 'misconfigured' }),
      ]),
    );
  });

  test('CL-2 tells what it did not understand as warnings, first of all', async () => {
    const file = await configFile({ odd: { command: 'x', enabled: false, colour: 'red' } });
    const host = start({ command: { config: [file] } });
    expect(await host.event('warning')).toMatchObject({ code: 'unknown_field', server: 'odd' });
    await host.result('ready');
  });

  test('CL-2 CA-4 follows its files with --watch, and keeps what it has when an edit is bad', async () => {
    const file = await configFile({ one: { command: 'x', enabled: false } });
    const host = start({ command: { config: [file], watch: true } });
    expect(await host.result('ready')).toEqual({ generation: 1 });
    await writeFile(file, JSON.stringify({ mcpServers: { two: { command: 'x', enabled: false } } }));
    await host.event('runtime.published', ({ generation }) => generation === 2);
    expect(await host.result('snapshot')).toMatchObject({ servers: [{ name: 'two', state: 'disabled' }] });
    await writeFile(file, '{ "mcpServers": ');
    expect(await host.event('warning')).toMatchObject({ code: 'config_syntax' });
    expect(await host.result('snapshot')).toMatchObject({ generation: 2 });
    const edited = { mcpServers: { three: { command: 'x', enabled: false } }, limits: { callsPerServer: 2 } };
    await writeFile(file, JSON.stringify(edited));
    await host.event('runtime.published', ({ generation }) => generation === 3);
    expect(await host.event('warning', ({ code }) => code === 'restart_needed')).toBeDefined();
    expect(await host.close()).toBe(0);
  });

  test('CL-2 refuses options it cannot serve, and files it cannot read, before it starts anything', async () => {
    for (const command of [
      { store: 'x' },
      { thread: 't' },
      { jsonl: false },
      { config: ['/nowhere.json'] },
      { root: ['/nowhere'] },
    ]) {
      await expect(new TestHost({ command }).exitCode).rejects.toThrow(/Expected|unsupported/);
    }
  });
});

describe('the end', () => {
  test('CL-2 answers every open request before the reply to close, after `thread.closed`', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    await park(host, 'call', server);
    host.write({ id: 'close', do: 'close' }, { id: 'late', do: 'beginStep' }, { id: 'again', do: 'close' });
    expect(await host.reply('close')).toEqual({ id: 'close', ok: true, result: {} });
    expect(await host.exitCode).toBe(0);
    expect(codeOf(await host.reply('late'))).toBe('thread_closed');
    expect(await host.reply('again')).toMatchObject({ ok: true });
    for (const id of ['call', 'late']) expect(host.indexOfReply(id)).toBeLessThan(host.indexOfReply('close'));
    expect(host.indexOfEvent('thread.closed')).toBeGreaterThan(-1);
    expect(host.indexOfEvent('thread.closed')).toBeLessThan(host.indexOfReply('close'));
    expect(host.records.filter((record) => JSON.stringify(record).includes('thread.closed"'))).toHaveLength(1);
  });

  test('CL-2 closes at the end of input and exits with 0; what was open is answered', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    await park(host, 'call', server);
    expect(await host.close()).toBe(0);
    expect((await host.reply('call'))['ok']).toBe(false);
    expect(host.indexOfEvent('thread.closed')).toBeGreaterThan(-1);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('CL-2 RT-11 closes on %s and exits with %i', async (signal, code) => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    await park(host, 'call', server);
    host.signal(signal);
    expect(await host.exitCode).toBe(code);
    expect((await host.reply('call'))['ok']).toBe(false);
    expect(server.connections).toBe(0);
  });

  test('CL-2 closes when stdout breaks', async () => {
    const server = serve();
    const host = start({ servers: { one: server.config } });
    await host.result('ready');
    host.stdout.destroy(new Error('EPIPE'));
    expect(await host.exitCode).toBe(0);
    expect(server.connections).toBe(0);
  });

  test('CL-2 reads no further while nobody reads its output, and loses nothing', async () => {
    const host = start();
    await host.result('ready');
    host.stdout.pause();
    const count = 3_000;
    for (let id = 0; id < count; id += 1) host.write({ id, do: 'snapshot' });
    host.stdout.resume();
    await host.reply(count - 1);
    expect(host.records.filter((record) => typeof record['id'] === 'number')).toHaveLength(count);
  });
});
