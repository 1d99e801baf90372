import { array, assert, nat, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createActor, createMachine } from 'xstate';
import { SimulatedClock } from '../../src/testing/index.ts';

describe('TK-1 a simulated clock', () => {
  test('starts at the beginning of 2026, or where it is told', () => {
    expect(new SimulatedClock().now()).toBe(Date.parse('2026-01-01T00:00:00Z'));
    expect(new SimulatedClock(5).now()).toBe(5);
  });

  test('fires timers in order of time, then of making, each at its own time', () => {
    const clock = new SimulatedClock(0);
    const fired: [string, number][] = [];
    clock.setTimeout(() => fired.push(['late', clock.now()]), 30);
    clock.setTimeout(() => fired.push(['early', clock.now()]), 10);
    clock.setTimeout(() => fired.push(['early too', clock.now()]), 10);
    clock.increment(30);
    expect(fired).toEqual([
      ['early', 10],
      ['early too', 10],
      ['late', 30],
    ]);
    expect(clock.now()).toBe(30);
  });

  test('leaves alone what is not due or was cleared', () => {
    const clock = new SimulatedClock(0);
    const fired: string[] = [];
    const cleared = clock.setTimeout(() => fired.push('cleared'), 10);
    clock.setTimeout(() => fired.push('later'), 11);
    expect(clock.pendingCount).toBe(2);
    clock.clearTimeout(cleared);
    clock.clearTimeout(undefined);
    clock.increment(10);
    expect(fired).toEqual([]);
    expect(clock.pendingCount).toBe(1);
  });

  test('fires on the way what callbacks schedule', () => {
    const clock = new SimulatedClock(0);
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.now());
      if (fired.length < 3) clock.setTimeout(again, 10);
    };
    clock.setTimeout(again, 10);
    clock.set(100);
    expect(fired).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(100);
  });

  test('lets a callback clear a timer that is due at the same time', () => {
    const clock = new SimulatedClock(0);
    const fired: string[] = [];
    const handles: number[] = [];
    clock.setTimeout(() => handles.forEach(clock.clearTimeout), 10);
    handles.push(clock.setTimeout(() => fired.push('cleared'), 10));
    clock.increment(10);
    expect(fired).toEqual([]);
  });

  test('stays consistent when a callback moves it', () => {
    const clock = new SimulatedClock(0);
    clock.setTimeout(() => clock.increment(50), 10);
    clock.increment(20);
    expect(clock.now()).toBe(60);
  });

  test('refuses to go back, and to fire for ever', () => {
    const clock = new SimulatedClock(10);
    expect(() => clock.set(9)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    expect(() => clock.increment(Number.NaN)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    const again = (): void => void clock.setTimeout(again, 0);
    again();
    expect(() => clock.increment(0)).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
  });

  test('drives the delays of a machine', () => {
    const clock = new SimulatedClock();
    const machine = createMachine({
      initial: 'waiting',
      states: { waiting: { after: { 1000: 'done' } }, done: { type: 'final' } },
    });
    const actor = createActor(machine, { clock }).start();
    clock.increment(999);
    expect(actor.getSnapshot().status).toBe('active');
    clock.increment(1);
    expect(actor.getSnapshot().status).toBe('done');
  });

  test('fires any set of timers in order, however time is cut up', () => {
    assert(
      property(array(nat(100)), array(nat(40), { minLength: 1 }), (delays, moves) => {
        const clock = new SimulatedClock(0);
        const fired: number[] = [];
        for (const delay of delays) clock.setTimeout(() => fired.push(delay), delay);
        for (const move of moves) clock.increment(move);
        const end = moves.reduce((sum, move) => sum + move, 0);
        expect(fired).toHaveLength(delays.filter((delay) => delay <= end).length);
        expect(fired.every((delay, index) => delay >= (fired[index - 1] ?? 0))).toBe(true);
      }),
    );
  });
});
