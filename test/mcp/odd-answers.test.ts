import { expect, test } from 'vitest';
import { HoldfastError } from '../../src/domain/errors.ts';
import { call, failureOf, open } from './support.ts';

/** A stdio server that answers `echo` with the members its argument names, and the handshake with `handshake`. */
function answering(handshake = '{ result: hello }'): { command: string; args: string[]; protocol: 'legacy' } {
  const script = `
    const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
    const hello = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      if (method === 'initialize') say({ jsonrpc: '2.0', id, ...(${handshake}) });
      else if (method === 'tools/list') say({ jsonrpc: '2.0', id, result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } });
      else if (params.arguments.batch) say([{ jsonrpc: '2.0', method: 'notifications/message', params: { data: 1 } }, 7, { jsonrpc: '2.0', id, result: { content: [] } }]);
      else say({ jsonrpc: '2.0', id, ...params.arguments });
    });`;
  return { command: process.execPath, args: ['-e', script], protocol: 'legacy' };
}

test.each([
  { result: null },
  { result: 'text' },
  { result: 7 },
  { result: [] },
  { error: null },
  { error: 'no' },
  { error: [] },
  {},
])('RT-12 SE-3 over stdio a call answered with %j fails at once', async (answer) => {
  await using opened = await open(answering());
  const { failure } = await failureOf(call(opened.link, 'echo', answer));

  expect(failure.code).toBe('protocol_error');
  expect(failure.message).toMatch(/^Server "docs": expected a result of "tools\/call", got /);
});

test('RT-12 over stdio a result beside "error": null counts', async () => {
  await using opened = await open(answering());

  expect(await call(opened.link, 'echo', { error: null, result: { content: [] } }).result).toEqual({ content: [] });
});

test('RT-12 SE-3 over stdio each message of a batch is read, and what is none of them is noise', async () => {
  await using opened = await open(answering());

  expect(await call(opened.link, 'echo', { batch: true }).result).toEqual({ content: [] });
  expect(opened.told.of('onLog')).toHaveLength(1);
  expect(opened.told.warnings('stdout_noise')).toHaveLength(1);
});

test.each(['{ result: null }', "{ result: 'text' }", '{ result: [] }', '{ error: null }', '{}'])(
  'RT-12 CN-1 a handshake answered with %s ends the start at once',
  async (handshake) => {
    const error: unknown = await open(answering(handshake)).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code: 'protocol_error' });
  },
);
