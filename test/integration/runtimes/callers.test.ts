/** What callers may give and do, untyped: refused with a HoldfastError, and nothing else is disturbed (RT-12). */
import { describe, expect, test } from 'vitest';
import { filter, firstValueFrom, map } from 'rxjs';
import { createHost, createThread, HoldfastError } from '../../../src/index.ts';
import type { Step, Thread, ThreadOptions } from '../../../src/index.ts';
import { scriptedServer } from '../../../src/testing/index.ts';

/** Anything, as a JavaScript caller gives it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- stands for whatever the types would ask for
function untyped<T>(value: unknown): T {
  return value as T;
}

async function codeOf(run: () => unknown): Promise<string> {
  try {
    await run();
    return 'none';
  } catch (error) {
    return error instanceof HoldfastError ? error.code : String(error);
  }
}

const badOptions: readonly (readonly [string, unknown, string])[] = [
  ['a clock without functions', { clock: {} }, 'invalid_argument'],
  [
    'a clock whose time is no number',
    { clock: { now: () => Number.NaN, setTimeout, clearTimeout } },
    'invalid_argument',
  ],
  ['a limit of no call at all', { limits: { callsPerThread: 0 } }, 'invalid_argument'],
  ['a wait without end', { limits: { readyTimeoutMs: Infinity } }, 'invalid_argument'],
  ['a question without end', { policy: { elicitation: { unattendedMs: Infinity } } }, 'invalid_argument'],
  ['null as a reason', { misconfigured: { a: null } }, 'config_invalid'],
  ['a number as a secret', { secrets: [5] }, 'config_invalid'],
  ['roots that are no list', { roots: {} }, 'invalid_argument'],
];

test.each(badOptions)('RT-12 createThread refuses %s', async (_, options, code) => {
  expect(await codeOf(() => createThread(untyped<ThreadOptions>(options)))).toBe(code);
});

test('RT-12 createThread and createHost take nothing as nothing set', async () => {
  await using host = createHost();
  await using thread = host.createThread();
  await thread.ready();
  expect(thread.snapshot().generation).toBe(1);
});

describe('with a thread', () => {
  async function withStep(run: (step: Step, thread: Thread) => Promise<void>): Promise<void> {
    await using desk = scriptedServer({ tools: ['echo', 'ask', 'destructive', 'park', 'release', 'progress'] });
    await using thread = createThread({ servers: { desk: desk.config } });
    await run(await thread.beginStep(), thread);
  }

  const badSignals: readonly unknown[] = [null, {}, 'stop'];

  test.each(badSignals)('RT-8 RT-9 a signal that is none (%j) is refused, and the turn stays free', async (signal) => {
    await withStep(async (step, thread) => {
      const options = untyped<{ readonly signal: AbortSignal }>({ signal });
      expect(await codeOf(() => step.callTool('mcp__desk__destructive', {}, options))).toBe('invalid_argument');
      expect(await codeOf(() => thread.ready(options))).toBe('invalid_argument');
      expect(await codeOf(() => thread.beginStep(options))).toBe('invalid_argument');
      expect(await codeOf(() => thread.replaceRuntime({ servers: {} }, options))).toBe('invalid_argument');
      expect(await codeOf(() => step.readResource('desk', 'test://static', options))).toBe('invalid_argument');
      expect((await step.callTool('mcp__desk__destructive')).isError ?? false).toBe(false);
    });
  });

  test('RT-12 null for options, names and roots is refused with a HoldfastError', async () => {
    await withStep(async (step, thread) => {
      expect(await codeOf(() => step.callTool('mcp__desk__echo', {}, untyped(null)))).toBe('invalid_argument');
      expect(await codeOf(() => step.callTool(untyped(Symbol('echo'))))).toBe('invalid_argument');
      expect(await codeOf(() => step.callTool('mcp__desk__echo', {}, { callId: untyped({}) }))).toBe(
        'invalid_argument',
      );
      expect(await codeOf(() => thread.ready(untyped(null)))).toBe('invalid_argument');
      expect(await codeOf(() => thread.replaceRuntime(untyped(null)))).toBe('config_invalid');
      expect(await codeOf(() => thread.replaceRuntime({ servers: {} }, { publish: untyped('soon') }))).toBe(
        'invalid_argument',
      );
      expect(await codeOf(() => thread.replaceRuntime(untyped({ catalog: 5 })))).toBe('config_invalid');
      expect(await codeOf(() => thread.setRoots(untyped(null)))).toBe('invalid_argument');
      expect(await codeOf(() => thread.setRoots([{ uri: 'http://x' }]))).toBe('invalid_argument');
      expect(thread.snapshot().generation).toBe(1);
    });
  });

  test('RT-11 close(null) closes', async () => {
    await withStep(async (_, thread) => {
      await thread.close(untyped(null));
      expect(thread.snapshot().state).toBe('closed');
    });
  });

  test('RT-12 async listeners that reject are reported, and disturb nothing', async () => {
    await withStep(async (step, thread) => {
      const warnings: string[] = [];
      thread.events$.subscribe((event) => {
        if (event.type === 'warning') warnings.push(event.message);
      });
      const broken = (): Promise<never> => Promise.reject(new Error('broken listener'));
      thread.events$.subscribe(untyped<() => void>(broken));
      thread.elicitations$.subscribe(untyped<() => void>(broken));
      const result = await step.callTool(
        'mcp__desk__progress',
        { steps: 1 },
        { onProgress: untyped<() => void>(broken) },
      );
      expect(result.isError ?? false).toBe(false);
      expect(warnings.join('\n')).toContain('broken listener');
    });
  });

  test('PO-1 H1 the tools of a step are frozen all through', async () => {
    await withStep((step) => {
      const [tool] = step.tools;
      expect(() => Object.assign(tool?.inputSchema ?? {}, { type: 'string' })).toThrow(TypeError);
      expect(step.tools.every((each) => each.annotations === undefined || Object.isFrozen(each.annotations))).toBe(
        true,
      );
      return Promise.resolve();
    });
  });

  test('H4 H9 nobody who is handed a question can change what its answer is held to', async () => {
    await withStep(async (step, thread) => {
      const call = step.callTool('mcp__desk__ask');
      const question = await firstValueFrom(
        thread.elicitations$.pipe(
          map(([first]) => first),
          filter((first) => first !== undefined),
        ),
      );
      expect(() => Object.assign(question, { message: 'changed' })).toThrow(TypeError);
      expect(() => Object.assign(question.requestedSchema ?? {}, { properties: {} })).toThrow(TypeError);
      const { elicitations } = thread.snapshot();
      expect(() => Object.assign(elicitations, [])).not.toThrow();
      expect(Object.isFrozen(elicitations)).toBe(true);
      expect(await thread.respond(question.token, { action: 'accept', content: { name: 'Ada' } })).toEqual({
        status: 'delivered',
      });
      await call;
    });
  });
});

test('RT-9 a call that waits for its turn sends the arguments it was asked with', async () => {
  await using desk = scriptedServer({ tools: ['echo', 'park'] });
  await using thread = createThread({ servers: { desk: { ...desk.config, serialize: true } } });
  const step = await thread.beginStep();
  const parked = step.callTool('mcp__desk__park', { key: 'one' });
  await desk.untilParked('one');
  const args = { text: 'asked' };
  const queued = step.callTool('mcp__desk__echo', args);
  args.text = 'changed';
  desk.release('one');
  await parked;
  expect((await queued).content).toEqual([{ type: 'text', text: 'asked' }]);
});
