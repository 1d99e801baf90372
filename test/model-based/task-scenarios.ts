/** Calls that become tasks, in every way a task can go. */
/* oxlint-disable vitest/no-standalone-expect -- these are the assertions of scenarios, and run inside their tests */
import { expect } from 'vitest';
import { loadTasks } from '../../src/actors/task-slot.ts';
import type { Step } from '../../src/index.ts';
import { scriptedServer, SimulatedClock } from '../../src/testing/index.ts';
import { refused, said, TaskPeer } from '../integration/tasks/support.ts';
import type { TaskEra, TaskScript } from '../integration/tasks/support.ts';
import type { Scenario } from './scenarios.ts';
import { errorOf, textOf, turn, WatchedThread } from './watched-thread.ts';
import type { Observe } from './watched-thread.ts';

interface Working {
  readonly watch: WatchedThread;
  readonly step: Step;
  readonly peer: TaskPeer;
  readonly clock: SimulatedClock;
  readonly result: Promise<unknown>;
  /** Moves time until the server was asked after the task so often. */
  readonly look: (times: number, ms?: number) => Promise<void>;
}

/** A call that a server driven by hand has made a task of. */
async function working(
  observe: Observe,
  era: TaskEra,
  script: TaskScript,
  act: (parts: Working) => Promise<void>,
): Promise<void> {
  await loadTasks();
  await using peer = new TaskPeer(era, script);
  const clock = new SimulatedClock();
  const watch = new WatchedThread({ servers: { docs: peer.config }, clock }, observe);
  const step = await watch.thread.beginStep();
  const result = step.callTool('mcp__docs__work', {});
  result.catch(() => undefined);
  await peer.server.waitFor('tools/call');
  for (let turns = 0; turns < 3; turns++) await turn();
  const looks = (): number => peer.heard.filter((method) => method === 'tasks/get').length;
  const look = async (times: number, ms = 100): Promise<void> => {
    while (looks() < times) {
      for (let turns = 0; turns < 3; turns++) await turn();
      if (looks() < times) clock.increment(ms);
    }
  };
  await act({ watch, step, peer, clock, result, look });
  await watch.end();
  expect(clock.pendingCount).toBe(0);
}

const roots = (from: number, count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`r${String(from + index)}`, { method: 'roots/list' }]),
  );

export const taskScenarios: readonly Scenario[] = [
  ...(['legacy', 'modern'] as const).map((era) => ({
    title: `ER-3 J1 J2 a task of a ${era} server works, asks, and brings its result`,
    run: async (observe: Observe) => {
      await using server = scriptedServer({ era });
      const watch = new WatchedThread({ servers: { docs: server.config } }, observe);
      const step = await watch.thread.beginStep();
      const result = step.callTool('mcp__docs__task', { questions: 1, steps: 2, message: 'At work.' });
      const { elicitation } = await watch.until('elicitation.opened', () => true);
      await watch.thread.respond(elicitation.token, { action: 'accept', content: { name: 'Ada' } });
      expect(textOf(await result)).toContain('Ada');
      expect(server.calls('task')).toBe(1);
      await watch.end();
    },
  })),
  {
    title: 'ER-3 ER-4 a task whose sampling is declined is given up, and cancelled',
    run: async (observe) => {
      await using server = scriptedServer({ era: 'modern' });
      const watch = new WatchedThread({ servers: { docs: server.config }, sampling: 'ask' }, observe);
      const step = await watch.thread.beginStep();
      const result = step.callTool('mcp__docs__task', { questions: 1, asks: 'sampling' });
      const { elicitation } = await watch.until('elicitation.opened', () => true);
      await watch.thread.respond(elicitation.token, { action: 'decline' });
      expect(await errorOf(result)).toMatchObject({ code: 'not_approved', outcome: 'failed' });
      await watch.end();
    },
  },
  {
    title: 'ER-3 a task its server cancels ends the call',
    run: (observe) =>
      working(observe, 'modern', { looks: [{ status: 'cancelled' }] }, async ({ look, result }) => {
        await look(1);
        expect(await errorOf(result)).toMatchObject({ code: 'aborted', outcome: 'failed' });
      }),
  },
  {
    title: 'ER-3 J3 a task that outlives its time ends the call',
    run: (observe) =>
      working(observe, 'modern', { made: { ttlMs: 50 }, looks: [{ ttlMs: 50 }] }, async ({ look, result }) => {
        await look(1);
        expect(await errorOf(result)).toMatchObject({ code: 'timeout', outcome: 'unknown' });
      }),
  },
  {
    title: 'ER-3 a task that lists entry after entry without end is given up',
    run: (observe) => {
      const looks = [0, 1_000].map((from) => ({ status: 'input_required', inputRequests: roots(from, 1_000) }));
      return working(observe, 'modern', { looks }, async ({ look, result }) => {
        await look(2);
        expect(await errorOf(result)).toMatchObject({ code: 'limit_exceeded', outcome: 'failed' });
      });
    },
  },
  {
    title: 'ER-3 J1 a server that cannot say how its task is is asked again, and given up after five times',
    run: (observe) =>
      working(observe, 'legacy', { looks: [refused(-32_603, 'Later.')] }, async ({ look, result }) => {
        await look(5, 1_000);
        expect(await errorOf(result)).toMatchObject({ code: 'protocol_error', outcome: 'unknown' });
      }),
  },
  {
    title: 'ER-3 J3 a server that forgets its task ends the call',
    run: (observe) =>
      working(observe, 'legacy', { looks: [refused(-32_602, 'No such task.')] }, async ({ look, result }) => {
        await look(1);
        expect(await errorOf(result)).toMatchObject({ code: 'protocol_error', outcome: 'unknown' });
      }),
  },
  {
    title: 'ER-3 J3 a server that tells of its task is asked sooner, and once at a time',
    run: (observe) => {
      const slow = { pollInterval: 50_000 };
      const script = { made: slow, looks: [undefined], result: said('done') };
      return working(observe, 'legacy', script, async ({ peer, clock, look, watch }) => {
        peer.tell({ statusMessage: 'half done' });
        await watch.until('call.progressed', () => true);
        expect(clock.pendingCount).toBeGreaterThan(0);
        await look(1);
        peer.tell({ statusMessage: 'done' });
        await watch.until('call.progressed', ({ message }) => message === 'done');
        expect(peer.heard).toEqual(['tasks/get']);
      });
    },
  },
];
