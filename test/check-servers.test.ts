import { describe, expect, test } from 'vitest';
import { createThread } from '../src/index.ts';
import type { ServerMap } from '../src/index.ts';

/** Untyped, as a JavaScript caller gives it. */
function given(servers: unknown): { readonly servers: ServerMap } {
  return { servers } as { readonly servers: ServerMap };
}

const bad: readonly (readonly [string, unknown, string])[] = [
  ['a number for the map', 5, 'Expected an object of servers, got 5.'],
  ['null for a server', { docs: null }, '/docs: Expected an object, got null.'],
  ['no way to reach it', { docs: {} }, 'got none of them'],
  ['two ways to reach it', { docs: { command: 'a', url: 'https://b.example' } }, 'got "command" and "url"'],
  ['a number for a command', { docs: { command: 5 } }, '/docs/command: Expected a non-empty string, got 5.'],
  [
    'user info of a url in what is wrong',
    { docs: { command: ['x', 'postgres://ann:pw@db.example'] } },
    'got ["x","postgres://[redacted]@db.example"].',
  ],
  ['a text for what is no secret', { docs: { command: 'a', notSecret: 'b' } }, '/docs/notSecret: Expected a list'],
  [
    'a text for the arguments',
    { docs: { command: 'a', args: 'b' } },
    '/docs/args: Expected a list of strings, got "b".',
  ],
  [
    'a limit that is no number',
    { docs: { command: 'a', callTimeoutMs: Number.NaN } },
    '/docs/callTimeoutMs: Expected whole milliseconds',
  ],
  [
    'an unknown transport',
    { docs: { url: 'https://b.example', transport: 'ws' } },
    '/docs/transport: Expected one of "http", "sse", "auto", got "ws".',
  ],
];

describe.each(bad)('%s', (_, servers, said) => {
  test('is refused by createThread with its path, before anything starts', () => {
    expect(() => createThread(given(servers))).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(said) as string }),
    );
  });

  test('is refused by replaceRuntime, and the thread goes on', async () => {
    await using thread = createThread();
    await thread.ready();
    await expect(thread.replaceRuntime(given(servers))).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(said) as string,
    });
    expect(thread.snapshot().generation).toBe(1);
  });
});

test('a replacement with nothing in it is refused', async () => {
  await using thread = createThread();
  await expect(thread.replaceRuntime({} as { readonly servers: ServerMap })).rejects.toMatchObject({
    code: 'config_invalid',
  });
});

test('names with slashes and tildes are pointed to as JSON Pointer escapes them', () => {
  expect(() => createThread(given({ 'a/b~c': {} }))).toThrow(
    expect.objectContaining({ issues: [expect.objectContaining({ path: '/a~1b~0c' })] }),
  );
});
