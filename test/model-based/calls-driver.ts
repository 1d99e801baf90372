/** A step on a real thread whose calls do what the model of calls says. */
/* oxlint-disable vitest/no-standalone-expect -- these are the assertions of paths, and run inside their tests */
import { expect } from 'vitest';
import type { ElicitationAnswer, JsonObject, PendingElicitation, Step, ToolResult } from '../../src/index.ts';
import { scriptedServer, SimulatedClock } from '../../src/testing/index.ts';
import type { ScriptedEra } from '../../src/testing/index.ts';
import type { Driver } from './paths.ts';
import { errorOf, expectSound, textOf, WatchedThread } from './watched-thread.ts';
import type { Observe } from './watched-thread.ts';

interface OpenCall {
  readonly key: string;
  readonly result: Promise<ToolResult>;
  readonly controller: AbortController;
}

const callTimeoutMs = 60_000;
const maxPauseMs = 5_000;
const sample = { role: 'assistant', model: 'test', content: { type: 'text', text: 'Hello.' } } as const;

/** Begins a step on a server of an era. */
export function callsDriver(era: ScriptedEra, observe: Observe): Driver {
  const clock = new SimulatedClock();
  const server = scriptedServer({ era });
  const tools = { perTool: { destructive: { approval: 'prompt' } } } as const;
  const docs = { ...server.config, callTimeoutMs, maxPauseMs, tools };
  const watch = new WatchedThread({ servers: { docs }, sampling: 'ask', clock }, observe);
  const { thread } = watch;
  const steps: Step[] = [];
  const calls: OpenCall[] = [];
  let count = 0;

  const stepOf = (index = 0): Step => steps[index] ?? expect.fail(`Expected step ${String(index)} to be open.`);
  const call = (tool: string, args: JsonObject = {}, step = stepOf()): OpenCall => {
    count += 1;
    const key = `call ${String(count)}`;
    const controller = new AbortController();
    const { signal } = controller;
    const all = tool === 'ask' ? { key, ...args } : args;
    const result = step.callTool(`mcp__docs__${tool}`, all, { signal, callId: key });
    result.catch(() => undefined);
    const open = { key, result, controller };
    calls.push(open);
    return open;
  };
  const take = (): OpenCall => calls.pop() ?? expect.fail('Expected an open call.');
  const states = (): readonly string[] =>
    thread.snapshot().steps.flatMap((step) => step.calls.map(({ state }) => state));
  const untilQuestions = async (wanted: number): Promise<void> => {
    const before = watch.of('elicitation.settled').length;
    let seen = -1;
    while (thread.snapshot().elicitations.length !== wanted) {
      expect(watch.of('elicitation.settled').length).toBe(before);
      seen = watch.facts.length;
      await watch.until('elicitation.opened', () => true, seen);
    }
  };
  const open = (): readonly PendingElicitation[] => thread.snapshot().elicitations;
  const respond = async (answer: ElicitationAnswer): Promise<void> => {
    const [question] = open();
    expect(await thread.respond(question?.token ?? '', answer)).toEqual({ status: 'delivered' });
  };
  const ada: ElicitationAnswer = { action: 'accept', content: { name: 'Ada' } };

  return {
    events: {
      'xstate.init': async () => {
        steps.push(await thread.beginStep());
      },
      'user.calls': async () => {
        await server.untilParked(call('ask').key);
      },
      'user.callsForApproval': async () => {
        call('destructive');
        await untilQuestions(1);
        expect(open()).toMatchObject([{ kind: 'approval', attribution: 'call' }]);
        expect(server.calls('destructive')).toBe(0);
      },
      'user.callsBehind': async () => {
        await server.untilParked(call('ask').key);
        call('ask');
      },
      'user.callsFromTwoSteps': async () => {
        steps.push(await thread.beginStep());
        await server.untilParked(call('ask', {}, stepOf(0)).key);
        await server.untilParked(call('ask', {}, stepOf(1)).key);
      },
      'user.callsForTwoQuestions': async () => {
        const { key } = call('ask', { questions: 2 });
        server.release(key);
        await untilQuestions(2);
      },
      'user.callsForSampling': async () => {
        call('sample');
        await untilQuestions(1);
        expect(open()).toMatchObject([{ kind: 'sampling' }]);
      },
      'user.callsForSignIn': async () => {
        call('requireUrl', { urls: [{ url: 'https://example.com/in' }], autoComplete: true });
        await untilQuestions(1);
        expect(open()).toMatchObject([{ kind: 'url', host: 'example.com' }]);
      },
      'user.callsWhatFails': async () => {
        call('throwError');
        await take().result.catch(() => undefined);
      },
      'server.answers': async () => {
        const { key, result } = take();
        server.release(key, 'done');
        expect(textOf(await result)).toBe('done');
      },
      'server.answersFirst': async () => {
        const second = take();
        const first = take();
        server.release(first.key, 'done');
        expect(textOf(await first.result)).toBe('done');
        calls.push(second);
        await server.untilParked(second.key);
      },
      'server.asks': async () => {
        server.release(calls[0]?.key ?? '');
        await untilQuestions(1);
      },
      'person.answersWrongly': async () => {
        const outcome = await thread.respond(open()[0]?.token ?? '', { action: 'accept', content: {} });
        expect(outcome.status).toBe('invalid');
      },
      'person.accepts': async () => {
        await respond(ada);
        expect(JSON.parse(textOf(await (calls.shift() ?? take()).result))).toMatchObject(ada);
        for (const { key, result } of calls.splice(0)) {
          server.release(key, 'after');
          expect(textOf(await result)).toBe('after');
        }
      },
      'person.acceptsOne': async () => {
        const [question] = open();
        expect(await thread.respond(question?.token ?? '', ada)).toEqual({ status: 'delivered' });
        if (open().length === 0) expect(JSON.parse(textOf(await take().result))).toMatchObject([ada, ada]);
      },
      'person.approves': async () => {
        await respond({ action: 'accept' });
        expect(textOf(await take().result)).toBe('destroyed');
      },
      'person.samples': async () => {
        await respond({ action: 'accept', content: sample });
        expect(JSON.parse(textOf(await take().result))).toMatchObject(sample);
      },
      'person.signsIn': async () => {
        await respond({ action: 'accept' });
        expect(textOf(await take().result)).toBe(era === 'legacy' ? 'authorized' : '{"action":"accept"}');
      },
      'person.declines': async () => {
        const [question] = open();
        await respond({ action: 'decline' });
        const { result } = take();
        if (question?.kind === 'approval')
          expect(await errorOf(result)).toMatchObject({ code: 'not_approved', outcome: 'not-sent' });
        else if (question?.kind === 'url' && era === 'legacy')
          expect(await errorOf(result)).toMatchObject({ code: 'authorization_declined', outcome: 'not-sent' });
        else if (question?.kind === 'sampling')
          expect(await errorOf(result)).toMatchObject({
            code: era === 'legacy' ? 'protocol_error' : 'not_approved',
            outcome: 'failed',
          });
        else expect(textOf(await result)).toContain('decline');
      },
      'time.runsOut': async () => {
        const { result } = take();
        clock.increment(callTimeoutMs - 1);
        expect(states()).toEqual(['running']);
        clock.increment(1);
        expect(await errorOf(result)).toMatchObject({ code: 'timeout', outcome: 'unknown' });
      },
      'time.passesPause': async () => {
        const [question] = open();
        clock.increment(maxPauseMs);
        const settled = await watch.until('elicitation.settled', ({ token }) => token === question?.token);
        expect(settled.outcome).toBe('expired');
        expect(textOf(await take().result)).toContain('cancel');
      },
      'user.aborts': async () => {
        for (const { controller, result } of calls.splice(0)) {
          controller.abort();
          expect(await errorOf(result)).toMatchObject({ code: 'aborted' });
        }
      },
      'user.endsStep': async () => {
        await Promise.all(steps.map((step) => step.end()));
        for (const { result } of calls.splice(0)) expect(await errorOf(result)).toMatchObject({ code: 'aborted' });
      },
    },
    states: {
      quiet: () => {
        expectSound(thread.snapshot());
        expect(states()).toEqual([]);
        expect(open()).toEqual([]);
      },
      running: () => {
        expect(states()).toEqual(['running']);
      },
      asking: () => {
        expectSound(thread.snapshot());
        expect(states()).toEqual(['paused']);
        expect(open()).toMatchObject([{ attribution: 'call', request: calls[0]?.key }]);
      },
      awaitingApproval: () => {
        expect(states()).toEqual(['awaitingApproval']);
      },
      queued: () => {
        expect(states()).toEqual(['running', 'queued']);
      },
      pair: () => {
        expect(states()).toEqual(['running', 'running']);
      },
      pairAsking: () => {
        expectSound(thread.snapshot());
        // EL-11: in memory a legacy question may be of either call, and pauses both; a modern one says whose it is.
        expect(states()).toEqual(era === 'legacy' ? ['paused', 'paused'] : ['paused', 'running']);
        expect(open()).toMatchObject([{ attribution: era === 'legacy' ? 'ambiguous' : 'call' }]);
      },
      twoQuestions: () => {
        expect(open()).toHaveLength(2);
        expect(states()).toEqual(['paused']);
      },
      oneQuestion: () => {
        expect(open()).toHaveLength(1);
        expect(states()).toEqual(['paused']);
      },
      '*': () => {
        expectSound(thread.snapshot());
      },
      ended: () => {
        expect(thread.snapshot()).toMatchObject({ steps: [], elicitations: [] });
      },
    },
    [Symbol.asyncDispose]: async () => {
      await watch.end();
      expect(server.connections).toBe(0);
      expect(clock.pendingCount).toBe(0);
    },
  };
}
