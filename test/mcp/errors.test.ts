import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { HoldfastError } from '../../src/domain/errors.ts';
import { httpStatusOf, recoded, rpcError, toWireError } from '../../src/mcp/errors.ts';
import { WireError } from '../../src/mcp/wire-error.ts';

const context = { server: 'docs', expected: 'an answer to the handshake' };

function http(status: number): SdkHttpError {
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'secret body', { status, text: 'secret body' });
}

test.each([
  [http(401), 'auth_required', false],
  [new UnauthorizedError(), 'auth_required', false],
  [http(403), 'server_unavailable', false],
  [http(404), 'protocol_error', false],
  [http(408), 'server_unavailable', true],
  [http(429), 'server_unavailable', true],
  [http(501), 'server_unavailable', true],
  [http(503), 'server_unavailable', true],
  [new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'), 'connection_lost', true],
  [new SdkError(SdkErrorCode.InvalidResult, 'Invalid result'), 'protocol_error', false],
  [new ProtocolError(-32_602, 'bad'), 'protocol_error', false],
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'server_unavailable', true],
  [new TypeError('fetch failed', { cause: new Error('socket') }), 'server_unavailable', true],
  [new Error('anything'), 'protocol_error', false],
  ['thrown text', 'protocol_error', false],
  [undefined, 'protocol_error', false],
])('CN-2 maps %s to one code', (error, code, retryable) => {
  const mapped = toWireError(error, context);

  expect(mapped).toMatchObject({ code, retryable });
  expect(mapped.message).toMatch(/^Server "docs": expected an answer to the handshake, got .+\.$/);
});

test('SE-1 the body a server sent with a refusal is in no message', () => {
  expect(toWireError(http(500), context).message).not.toContain('secret');
});

test('RT-10 a 404 is a lost session only where there was one', () => {
  expect(toWireError(http(404), { ...context, hasSession: true }).code).toBe('session_lost');
});

test('CN-1 errors of transports get the name of their server, once, and the last words on stderr', () => {
  const lost = new HoldfastError('connection_lost', 'Expected it to run, but it exited.', { outcome: 'unknown' });
  const named = toWireError(lost, { ...context, stderr: 'boom' });
  const again = toWireError(named, { ...context, stderr: 'other' });

  expect(named).toMatchObject({ code: 'connection_lost', outcome: 'unknown', stderr: 'boom', cause: lost });
  expect(named.message).toBe('Server "docs": Expected it to run, but it exited.');
  expect(again).toBe(named);
});

test('CN-2 keeps status and JSON-RPC error through every rewriting', () => {
  const refused = recoded(toWireError(http(503), context), 'timeout');
  const answered = recoded(rpcError({ code: -1, message: 'no' }, context), 'internal');

  expect(httpStatusOf(refused)).toBe(503);
  expect(httpStatusOf(new Error('outer', { cause: refused }))).toBe(503);
  expect(answered.rpc).toEqual({ code: -1, message: 'no' });
  expect(httpStatusOf(new WireError('internal', 'none'))).toBeUndefined();
});

test('CN-2 reads the status of the older HTTP transport', () => {
  const event = Object.assign(new Event('error'), { code: 405, message: 'no' });

  expect(httpStatusOf(new SseError(405, 'no', event))).toBe(405);
});

test('RT-12 a chain of causes that loops ends', () => {
  const loop = new Error('loop');
  loop.cause = loop;

  expect(toWireError(loop, context).code).toBe('protocol_error');
});

test('SE-2 the words of a peer are cut to a length that fits a message', () => {
  const message = rpcError({ code: 1, message: 'x'.repeat(100_000) }, context).message;

  expect(message.length).toBeLessThan(500);
});
