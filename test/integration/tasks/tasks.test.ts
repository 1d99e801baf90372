/** Calls that become tasks, on scripted servers of both eras, in memory and over HTTP. */
import { describe, expect, test } from 'vitest';
import type { JsonObject, Progress } from '../../../src/index.ts';
import { createThread } from '../../../src/index.ts';
import { errorOf, eventually, peerKinds, startPeer, textOf, Watch } from '../runtimes/support.ts';

const name = 'mcp__docs__task';

/** The methods about tasks a server heard, oldest first. */
function heard(peer: { readonly journal: readonly { readonly kind: string; readonly tool?: string }[] }) {
  return peer.journal.filter(({ kind }) => kind === 'task').map(({ tool }) => tool);
}

describe.each(peerKinds)('a %s server, %s', (era, kind) => {
  const open = async (options: Partial<Parameters<typeof createThread>[0]> = {}, settings: JsonObject = {}) => {
    const peer = await startPeer(kind, { era });
    const thread = createThread({ ...options, servers: { docs: { ...peer.config, ...settings } } });
    const watch = new Watch(thread);
    const step = await thread.beginStep();
    return {
      peer,
      thread,
      watch,
      step,
      [Symbol.asyncDispose]: async () => {
        await thread.close();
        await peer.close();
      },
    };
  };

  test('ER-3 a call that becomes a task is one call: sent once, asked after until it has its result', async () => {
    await using own = await open();
    const { peer, step, watch } = own;
    const result = await step.callTool(name, { steps: 2, text: 'report', pollMs: 0 });
    expect(textOf(result)).toBe('report');
    expect(peer.calls('task')).toBe(1);
    expect(heard(peer)).toEqual(
      era === 'modern'
        ? ['tasks/get', 'tasks/get', 'tasks/get']
        : ['tasks/get', 'tasks/get', 'tasks/get', 'tasks/result'],
    );
    expect(watch.of('call.started')).toHaveLength(1);
    expect(watch.of('call.ended')).toMatchObject([{ outcome: 'completed', isError: false }]);
  });

  test('ER-3 what the server says of its task is progress of the call', async () => {
    await using own = await open();
    const seen: Progress[] = [];
    await own.step.callTool(name, { steps: 2 }, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([
      { progress: 0, message: 'step 1 of 2' },
      { progress: 0, message: 'step 2 of 2' },
    ]);
    expect(own.watch.of('call.progressed').map(({ message }) => message)).toEqual(['step 1 of 2', 'step 2 of 2']);
  });

  test('ER-3 EL-2 EL-11 what a task asks is asked for its call, once, and answered through the same router', async () => {
    await using own = await open();
    const { peer, step, thread, watch } = own;
    const result = step.callTool(name, { questions: 2, message: 'Needs a name.' }, { callId: 'mine' });
    await eventually(() => thread.snapshot().elicitations.length === 2);
    const [first, second] = thread.snapshot().elicitations;
    expect(first).toMatchObject({ kind: 'form', server: 'docs', attribution: 'call', request: 'mine', generation: 1 });
    expect(thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'paused' }]);
    const answer = { action: 'accept', content: { name: 'Ada' } } as const;
    expect(await thread.respond(first?.token ?? '', { action: 'accept', content: { name: 7 } })).toMatchObject({
      status: 'invalid',
    });
    expect(await thread.respond(first?.token ?? '', answer)).toEqual({ status: 'delivered' });
    expect(await thread.respond(second?.token ?? '', { action: 'decline' })).toEqual({ status: 'delivered' });
    expect(JSON.parse(textOf(await result))).toMatchObject([answer, { action: 'decline' }]);
    expect(peer.calls('task')).toBe(1);
    expect(watch.of('elicitation.opened')).toHaveLength(2);
    expect(watch.of('call.paused')).toHaveLength(1);
    expect(watch.of('call.resumed')).toHaveLength(1);
  });

  test('ER-3 a tool error of a task is a value, a JSON-RPC error is the failure of the call', async () => {
    await using own = await open();
    const { step, watch } = own;
    expect(await step.callTool(name, { isError: true, text: 'no' })).toMatchObject({ isError: true });
    const error = await errorOf(step.callTool(name, { error: { code: -32_000, message: 'No paper.' } }));
    expect(error).toMatchObject({ code: 'protocol_error', outcome: 'failed' });
    expect(error.message).toContain('No paper.');
    expect(watch.of('call.ended').map(({ outcome }) => outcome)).toEqual(['completed', 'failed']);
  });

  test('ER-3 a task its server cancels ends the call', async () => {
    await using own = await open();
    const error = await errorOf(own.step.callTool(name, { givesUp: true, message: 'Out of paper.' }));
    expect(error).toMatchObject({ code: 'aborted', outcome: 'failed' });
    expect(error.message).toContain('Out of paper.');
  });

  test('ER-3 RT-8 aborted, the server hears tasks/cancel, and nothing is asked after it any more', async () => {
    await using own = await open();
    const { peer, step } = own;
    const controller = new AbortController();
    const result = step.callTool(name, { key: 'k' }, { signal: controller.signal });
    await peer.untilParked('k');
    await eventually(() => heard(peer).length > 0);
    controller.abort();
    expect(await errorOf(result)).toMatchObject({ code: 'aborted', outcome: 'unknown' });
    await peer.until(({ kind: what, tool }) => what === 'cancelled' && tool === 'task');
    const asked = heard(peer);
    expect(asked.filter((method) => method === 'tasks/cancel')).toHaveLength(1);
    expect(asked.at(-1)).toBe('tasks/cancel');
    expect(own.watch.of('call.ended')).toMatchObject([{ outcome: 'aborted' }]);
  });

  test('ER-3 EL-8 RT-8 aborted while it asks, its question is settled and the server hears of it', async () => {
    await using own = await open();
    const { peer, step, thread, watch } = own;
    const controller = new AbortController();
    const result = step.callTool(name, { questions: 1 }, { signal: controller.signal });
    await eventually(() => thread.snapshot().elicitations.length === 1);
    controller.abort();
    expect(await errorOf(result)).toMatchObject({ code: 'aborted' });
    await peer.until(({ kind: what, tool }) => what === 'cancelled' && tool === 'task');
    expect(watch.of('elicitation.settled')).toMatchObject([{ outcome: 'cancelled' }]);
  });

  test('ER-3 RT-8 RT-11 a thread that closes tells the server of its tasks first', async () => {
    const own = await open();
    const { peer, step, thread } = own;
    const result = step.callTool(name, { key: 'k' });
    result.catch(() => undefined);
    await eventually(() => heard(peer).length > 0);
    await thread.close();
    expect(await errorOf(result)).toMatchObject({ code: 'aborted' });
    expect(peer.journal).toContainEqual(expect.objectContaining({ kind: 'cancelled', tool: 'task' }));
    await own[Symbol.asyncDispose]();
  });

  test('ER-3 a server that forgets its task is at fault, and what became of the call is unknown', async () => {
    await using own = await open();
    const error = await errorOf(own.step.callTool(name, { key: 'k', forgets: 1 }));
    expect(error).toMatchObject({ code: 'protocol_error', outcome: 'unknown', retryable: false });
    expect(error.message).toContain('does not');
    expect(own.peer.calls('task')).toBe(1);
  });

  test('ER-3 ER-4 what a task wants of a model goes to the sampling handler, and roots are answered here', async () => {
    const content = { role: 'assistant', model: 'test', content: { type: 'text', text: 'Hello.' } } as const;
    await using own = await open({ sampling: () => Promise.resolve(content), roots: [{ uri: 'file:///work' }] });
    const sampled = await own.step.callTool(name, { questions: 1, asks: 'sampling' });
    expect(JSON.parse(textOf(sampled))).toMatchObject([content]);
    const rooted = await own.step.callTool(name, { questions: 1, asks: 'roots' });
    expect(JSON.parse(textOf(rooted))).toMatchObject([{ roots: [{ uri: 'file:///work' }] }]);
  });

  test('ER-3 ER-4 sampling that is declined in a task fails a modern call, and is an error to a legacy server', async () => {
    await using own = await open({ sampling: () => Promise.reject(new Error('No model.')) });
    const { peer, step } = own;
    const result = step.callTool(name, { questions: 1, asks: 'sampling' });
    if (era === 'legacy') {
      expect(await errorOf(result)).toMatchObject({ code: 'protocol_error', outcome: 'failed' });
      return;
    }
    expect(await errorOf(result)).toMatchObject({ code: 'not_approved', outcome: 'failed' });
    await peer.until(({ kind: what, tool }) => what === 'cancelled' && tool === 'task');
  });

  test('ER-3 H3 RT-5 a replacement leaves a task to the runtime it began in, which lives until it has ended', async () => {
    await using own = await open();
    const { peer, step, thread, watch } = own;
    const result = step.callTool(name, { key: 'k', questions: 1 });
    await eventually(() => thread.snapshot().elicitations.length === 1);
    await thread.replaceRuntime({ servers: {} });
    const [question] = thread.snapshot().elicitations;
    await thread.respond(question?.token ?? '', { action: 'accept', content: { name: 'Ada' } });
    await peer.untilParked('k');
    expect(watch.hasStopped(1)).toBe(false);
    peer.release('k');
    expect(JSON.parse(textOf(await result))).toMatchObject([{ action: 'accept' }]);
    await step.end();
    await watch.untilStopped(1);
  });
});
