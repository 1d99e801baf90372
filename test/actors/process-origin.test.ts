import { expect, test } from 'vitest';
import { originOf } from '../../src/actors/identity.ts';
import type { ServerConfig } from '../../src/domain/config.ts';
import { createRedactor, secretsOf } from '../../src/domain/redact.ts';

function origin(config: ServerConfig): string {
  const redactor = createRedactor();
  for (const secret of secretsOf(config)) redactor.add(secret);
  return originOf(config, (text) => redactor.text(text));
}

const program = { command: 'node', args: ['server.mjs'], env: { API_TOKEN: 'abcdefgh1' } };

test.each<readonly [string, ServerConfig]>([
  ['command', { ...program, command: '/usr/bin/env' }],
  ['argument', { ...program, args: ['MODE=evil', 'server.mjs'] }],
  ['secret argument', { ...program, args: ['server.mjs', '--token', 'something-secret'] }],
  ['directory', { ...program, cwd: '/elsewhere' }],
  ['environment', { ...program, environment: 'box' }],
  ['variable', { ...program, env: { ...program.env, OTHER: '1' } }],
  ['named variable', { ...program, envFrom: { OTHER: 'HERE' } }],
  ['search path', { ...program, env: { ...program.env, PATH: '/evil' } }],
])('PO-2 a process with another %s has another origin', (_what, config) => {
  expect(origin(config)).not.toBe(origin(program));
});

test('PO-2 the value of a variable that holds a secret is no part of the origin', () => {
  expect(origin({ ...program, env: { API_TOKEN: 'ijklmnop2' } })).toBe(origin(program));
});

test('PO-3 SE-1 an origin is read as a command line, without secrets', () => {
  const config = {
    ...program,
    args: ['my server.mjs', '--token', 'something-secret'],
    cwd: '/work',
    environment: 'box',
  };
  expect(origin(config)).toMatch(
    /^stdio: node "my server.mjs" --token \[redacted\] in \/work in environment box with API_TOKEN \([0-9a-f]{16}\)$/,
  );
});

test('PO-3 a long command line is cut, and still tells two apart', () => {
  const long = 'x'.repeat(100_000);
  const [one, other] = [`${long}1`, `${long}2`].map((script) => origin({ command: 'node', args: ['-e', script] }));
  expect(one?.length).toBeLessThan(1_100);
  expect(one).not.toBe(other);
});
