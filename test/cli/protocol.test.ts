import { describe, expect, test } from 'vitest';
import { parseBody, parseLine, shapes } from '../../src/cli/jsonl/protocol.ts';
import { restoreIds } from '../../src/cli/jsonl/request-id.ts';

function read(text: string): { id: string | null; code: string } {
  const parsed = parseLine({ kind: 'text', text });
  return parsed.kind === 'request'
    ? { id: parsed.id.json, code: parsed.name }
    : { id: parsed.id?.json ?? null, code: parsed.error.code };
}

describe('lines', () => {
  test.each([
    ['{"id":1,"do":"ready"}', '1', 'ready'],
    ['{"id":"a\\u0000b","do":"x"}', '"a\\u0000b"', 'x'],
    ['{"id":"","do":"x"}', '""', 'x'],
    ['{"id":-0.5,"do":"x"}', '-0.5', 'x'],
    ['{"id":9007199254740993,"do":"x"}', '9007199254740993', 'x'],
    ['{"a":{"id":1e400},"id":1e999,"do":"x"}', '1e999', 'x'],
    ['{"id":1}', '1', 'invalid_request'],
    ['{"id":1,"do":7}', '1', 'invalid_request'],
    ['{"do":"ready"}', null, 'invalid_request'],
    ['{"id":null,"do":"ready"}', null, 'invalid_request'],
    ['{"id":true,"do":"ready"}', null, 'invalid_request'],
    ['[{"id":1,"do":"ready"}]', null, 'invalid_request'],
    ['"ready"', null, 'invalid_request'],
    ['null', null, 'invalid_request'],
    ['{"id":1,"do":"ready"', null, 'invalid_request'],
    ['{"id":1,"do":"ready"} x', null, 'invalid_request'],
  ])('CL-2 reads %s', (text, id, code) => {
    expect(read(text)).toEqual({ id, code });
  });

  test('CL-2 says of broken text that it is broken, and quotes none of it', () => {
    const parsed = parseLine({ kind: 'text', text: '{"token": hunter2}' });
    expect(parsed.kind === 'refused' ? parsed.error.message : '').not.toContain('hunter2');
  });

  test('CL-2 refuses a line in another encoding under its id', () => {
    const parsed = parseLine({ kind: 'notUtf8', text: '{"id":7,"do":"\uFFFD"}' });
    expect(parsed).toMatchObject({ kind: 'refused', id: { json: '7' }, error: { code: 'invalid_request' } });
  });

  test('CL-2 survives a line of a million brackets', () => {
    expect(read('['.repeat(1_000_000)).code).toBe('invalid_request');
  });

  test('CL-2 gives numbers that no double holds back as they came, in events too', () => {
    const parsed = parseLine({ kind: 'text', text: '{"id":9007199254740993,"do":"callTool"}' });
    const request = parsed.kind === 'request' ? parsed.id.value : undefined;
    expect(restoreIds(JSON.stringify({ event: { type: 'call.started', request } }))).toBe(
      '{"event":{"type":"call.started","request":9007199254740993}}',
    );
  });
});

describe('fields', () => {
  test.each([
    [{ step: 's', name: 'n', timeoutMs: 0 }, '/timeoutMs'],
    [{ step: 's', name: 'n', timeoutMs: 1.5 }, '/timeoutMs'],
    [{ step: 's', name: 'n', timeoutMs: 2 ** 31 }, '/timeoutMs'],
    [{ step: 1, name: 'n' }, '/step'],
    [{ step: 's' }, '/name'],
  ])('CL-2 refuses %o of a call with an issue, as not sent', (body, path) => {
    expect(() => parseBody(shapes.callTool, 'callTool', body)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        outcome: 'not-sent',
        issues: [expect.objectContaining({ path })],
      }),
    );
  });
});
