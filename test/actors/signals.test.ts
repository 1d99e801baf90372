import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSignals } from '../../src/actors/signals.ts';

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

test('PE-4 a signal that many calls share has one listener, and every call hears of its abort', () => {
  const signals = createSignals();
  const controller = new AbortController();
  const heard: number[] = [];
  for (let call = 0; call < 20; call++) signals.listen(controller.signal, () => heard.push(call));
  expect(listeners(controller.signal)).toBe(1);

  controller.abort();

  expect(heard).toEqual(Array.from({ length: 20 }, (_, call) => call));
});

test('PE-4 a signal has no listener any more after the last call on it let go', async () => {
  const signals = createSignals();
  const { signal } = new AbortController();
  const letGo = [signals.listen(signal, () => undefined), signals.listen(signal, () => undefined)];
  for (const release of letGo) release();

  await setImmediate();

  expect(listeners(signal)).toBe(0);
});

test('PE-4 a call on a signal that was just let go hears of its abort', async () => {
  const signals = createSignals();
  const controller = new AbortController();
  signals.listen(controller.signal, () => undefined)();
  let heard = 0;
  signals.listen(controller.signal, () => {
    heard += 1;
  });
  await setImmediate();
  expect(listeners(controller.signal)).toBe(1);

  controller.abort();

  expect(heard).toBe(1);
});

test('PE-4 a call on a signal that was let go a while ago hears of its abort', async () => {
  const signals = createSignals();
  const controller = new AbortController();
  signals.listen(controller.signal, () => undefined)();
  await setImmediate();
  let heard = 0;
  signals.listen(controller.signal, () => {
    heard += 1;
  });

  controller.abort();

  expect(heard).toBe(1);
});
