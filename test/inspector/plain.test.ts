import { describe, expect, test } from 'vitest';
import { createActor, setup } from 'xstate';
import type { AnyActorRef } from 'xstate';
import { createInspectorBridge } from '../../src/inspector/index.ts';
import { plainLimits } from '../../src/inspector/plain.ts';
import { callMachine, outline, record } from './fixtures.ts';

const secret = 'sk-live-0123456789';

function named(): void {}

describe('H9 SE-1 what frames carry', () => {
  test('H9 survives a round trip through JSON unchanged, whatever an event or context holds', () => {
    const viewer = record();
    const bridge = createInspectorBridge({ send: viewer.send });
    const actor: AnyActorRef = createActor(callMachine, { id: 'call', inspect: bridge.inspect }).start();
    const deep = Array.from({ length: 100 }).reduce<unknown>((inner) => [inner], 'bottom');
    actor.send({ type: 'deep', deep, zero: -0, lone: '\ud83d', hole: [undefined, Symbol('s')] });
    actor.send({ type: 'proto', proto: JSON.parse('{"__proto__": {"polluted": true}}') as unknown });
    actor.stop();
    expect(JSON.parse(JSON.stringify(viewer.frames))).toEqual(viewer.frames);
    const proto = viewer.frames.find((frame) => outline(frame) === 'event call proto');
    expect(JSON.stringify(proto?.['event'])).toBe('{"type":"proto","proto":{"__proto__":{"polluted":true}}}');
  });

  test('H9 converts each kind of value', () => {
    const viewer = record();
    const bridge = createInspectorBridge({ send: viewer.send });
    const circular: Record<string, unknown> = { name: 'loop' };
    circular['self'] = circular;
    class Client {
      readonly socket = circular;
    }
    const actor: AnyActorRef = createActor(callMachine, { id: 'call', inspect: bridge.inspect }).start();
    actor.send({
      type: 'odd',
      values: [
        undefined,
        Number.NaN,
        -0,
        10n,
        new Date(0),
        new Map([['k', 1]]),
        new Set([1]),
        new Uint8Array(3),
        new Client(),
      ],
      circular,
      call: named,
      broken: {
        get now(): string {
          throw new RangeError('unreadable');
        },
      },
      actor,
    });
    actor.stop();
    expect(viewer.frames.find((frame) => outline(frame) === 'event call odd')?.['event']).toEqual({
      type: 'odd',
      values: [
        null,
        null,
        0,
        '10',
        '1970-01-01T00:00:00.000Z',
        [['k', 1]],
        [1],
        { type: 'Uint8Array', byteLength: 3 },
        { type: 'Client' },
      ],
      circular: { name: 'loop', self: '[circular]' },
      call: { type: 'named' },
      broken: '[unreadable: RangeError]',
      actor: { xstate$$type: 1, id: 'call' },
    });
  });

  test('SE-1 redacts strings, keys, errors, names and definitions, also where a long string is cut', () => {
    const viewer = record();
    const redact = <T>(value: T): T =>
      typeof value === 'string' ? (value.replaceAll(secret, '[redacted]') as T) : value;
    const bridge = createInspectorBridge({ send: viewer.send, redact });
    const machine = setup({}).createMachine({ id: 'm', description: `uses ${secret}`, context: { token: secret } });
    const actor: AnyActorRef = createActor(machine, { id: `call-${secret}`, inspect: bridge.inspect }).start();
    const edge = 'x'.repeat(plainLimits.characters - 5) + secret;
    actor.send({ type: `ask.${secret}`, [secret]: 1, error: new Error(`bad ${secret}`), edge });
    actor.stop();
    const text = JSON.stringify(viewer.frames);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(secret.slice(0, 5));
    expect(viewer.frames[0]?.sessionId).toBe('call-[redacted]');
    expect(JSON.parse(String(viewer.frames[0]?.['definition']))).toMatchObject({ description: 'uses [redacted]' });
  });

  test('SE-2 cuts long strings, long lists, wide objects and deep values', () => {
    const viewer = record();
    const bridge = createInspectorBridge({ send: viewer.send });
    const actor: AnyActorRef = createActor(callMachine, { id: 'call', inspect: bridge.inspect }).start();
    const wide = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`k${index}`, index]));
    const deep = Array.from({ length: 100 }).reduce<unknown>((inner) => [inner], 'bottom');
    const huge = Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => 'y'.repeat(900)));
    actor.send({
      type: 'big',
      long: 'x'.repeat(10_003),
      list: Array.from({ length: 1_500 }, () => 0),
      wide,
      deep,
      huge,
    });
    actor.stop();
    const frame = viewer.frames.find((candidate) => outline(candidate) === 'event call big');
    const event = frame?.['event'] as Record<string, string & unknown[] & Record<string, unknown>>;
    expect(event['long']?.slice(9_998)).toBe('xx[3 more characters]');
    expect(event['list']).toHaveLength(1_001);
    expect(event['list']?.at(-1)).toBe('[500 more]');
    expect(Object.keys(event['wide'] ?? {}).at(-1)).toBe('[500 more]');
    expect(JSON.stringify(event['deep'])).toContain('[too deep]');
    expect(JSON.stringify(frame).length).toBeLessThan(2_500_000);
  });
});
