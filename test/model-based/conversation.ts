/** One conversation on a real thread, driven by the events of the thread test model. */
/* oxlint-disable vitest/no-standalone-expect -- these are the assertions of paths, and run inside their tests */
import { expect } from 'vitest';
import type { PendingElicitation, Step, ToolResult } from '../../src/index.ts';
import type { ScriptedEra, ThreadTestHost, ThreadTestState } from '../../src/testing/index.ts';
import { GatedServer } from './gated-server.ts';
import { errorOf, expectSound, textOf, turn, WatchedThread } from './watched-thread.ts';
import type { Observe } from './watched-thread.ts';

interface OpenCall {
  readonly key: string;
  readonly server: GatedServer;
  readonly result: Promise<ToolResult>;
  readonly controller: AbortController;
}

export class Conversation implements AsyncDisposable {
  readonly watch: WatchedThread;
  readonly host: ThreadTestHost;
  readonly #era: ScriptedEra;
  /** By generation. */
  readonly #servers = new Map<number, GatedServer>();
  #generation = 1;
  #calls = 0;
  #step: Step | undefined;
  #call: OpenCall | undefined;
  #question: PendingElicitation | undefined;

  constructor(era: ScriptedEra, observe?: Observe) {
    this.#era = era;
    this.#servers.set(1, this.#server(1, false));
    this.watch = new WatchedThread({ servers: { docs: this.#serverOf(1).config } }, observe);
    this.host = { events: this.#events(), states: this.#states() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#call?.result.catch(() => undefined);
    await this.watch.end();
    // H10: nothing is left of any server.
    for (const { peer } of this.#servers.values()) expect(peer.connections).toBe(0);
  }

  #events(): ThreadTestHost['events'] {
    const { thread } = this.watch;
    return {
      'host.becomesReady': async () => {
        this.#serverOf(1).open();
        await thread.ready();
      },
      'user.beginsStep': async () => {
        this.#step = await thread.beginStep();
        expect(this.#step.generation).toBe(this.#generation);
        expect(this.#step.tools.map(({ name }) => name)).toContain('mcp__docs__ask');
      },
      'user.callsTool': async () => {
        const server = this.#pinnedServer();
        this.#calls += 1;
        const key = `call ${String(this.#calls)}`;
        const controller = new AbortController();
        const { signal } = controller;
        const result = this.#openStep().callTool('mcp__docs__ask', { key }, { signal, callId: key });
        this.#call = { key, server, result, controller };
        result.catch(() => undefined);
        await server.peer.untilParked(key);
      },
      'server.answersCall': async () => {
        const { server, key, result } = this.#takeCall();
        server.peer.release(key, 'done');
        expect(textOf(await result)).toBe('done');
      },
      'server.asks': async () => {
        const { server, key } = this.#openCall();
        server.peer.release(key);
        const fact = await this.watch.until('elicitation.opened', ({ elicitation }) => elicitation.request === key);
        this.#question = fact.elicitation;
      },
      'person.answersWrongly': async () => {
        const outcome = await thread.respond(this.#openQuestion().token, { action: 'accept', content: { name: 7 } });
        expect(outcome.status).toBe('invalid');
      },
      'person.accepts': async () => {
        const { token } = this.#takeQuestion();
        const answer = { action: 'accept', content: { name: `Ada of ${token}` } } as const;
        expect(await thread.respond(token, answer)).toEqual({ status: 'delivered' });
        expect(JSON.parse(textOf(await this.#takeCall().result))).toMatchObject(answer);
        expect(await thread.respond(token, answer)).toMatchObject({ status: 'settled', outcome: 'accepted' });
      },
      'person.declines': async () => {
        const { token } = this.#takeQuestion();
        expect(await thread.respond(token, { action: 'decline' })).toEqual({ status: 'delivered' });
        expect(JSON.parse(textOf(await this.#takeCall().result))).toMatchObject({ action: 'decline' });
      },
      'user.abortsCall': async () => {
        const { controller, result } = this.#takeCall();
        controller.abort();
        expect(await errorOf(result)).toMatchObject({ code: 'aborted', outcome: 'unknown' });
        await this.#expectSettled('cancelled');
      },
      'user.endsStep': async () => {
        const step = this.#openStep();
        const call = this.#call;
        await step.end();
        this.#step = undefined;
        await this.#expectAborted(call);
        if (step.generation !== this.#generation)
          await this.watch.until('runtime.stopped', ({ generation }) => generation === step.generation);
      },
      'operator.replacesRuntime': async () => {
        const replaced = this.#generation;
        const generation = replaced + 1;
        const server = this.#server(generation);
        this.#servers.set(generation, server);
        const publication = await thread.replaceRuntime({ servers: { docs: server.config } });
        expect(publication).toEqual({ status: 'published', generation, replaced });
        this.#generation = generation;
      },
      'server.dies': async () => {
        const from = this.watch.facts.length;
        const call = this.#call;
        await this.#pinnedServer().die();
        await this.watch.until('server.changed', ({ state }) => state === 'reconnecting', from);
        const outlives = this.#era === 'modern' && this.#question !== undefined;
        if (call === undefined || outlives) return;
        expect(await errorOf(call.result)).toMatchObject({ code: 'connection_lost' });
        this.#call = undefined;
        await this.#expectSettled('expired');
      },
      'server.comesBack': async () => {
        const from = this.watch.facts.length;
        this.#pinnedServer().open();
        await this.watch.until('server.changed', ({ state }) => state === 'ready', from);
      },
      'user.closesThread': async () => {
        const call = this.#call;
        await thread.close();
        this.#step = undefined;
        await this.#expectAborted(call);
      },
    };
  }

  #states(): NonNullable<ThreadTestHost['states']> {
    const { thread } = this.watch;
    const calls = () => thread.snapshot().steps.flatMap((step) => step.calls);
    return {
      '*': ({ conversation }) => {
        const snapshot = thread.snapshot();
        expectSound(snapshot);
        expect(snapshot.elicitations).toHaveLength(conversation === 'asking' ? 1 : 0);
        expect(snapshot.generation).toBe(conversation === 'starting' || this.#neverReady ? 0 : this.#generation);
      },
      starting: () => {
        expect(thread.snapshot()).toMatchObject({ state: 'starting', steps: [] });
      },
      idle: () => {
        expect(thread.snapshot()).toMatchObject({ state: 'active', steps: [] });
      },
      quiet: () => {
        expect(thread.snapshot()).toMatchObject({ state: 'active', steps: [{ id: this.#openStep().id, calls: [] }] });
      },
      calling: () => {
        expect(calls()).toMatchObject([{ state: 'running', request: this.#openCall().key }]);
        expect(calls()[0]?.deadlineAt).toBeDefined();
      },
      asking: () => {
        const { id, generation } = this.#openStep();
        expect(calls()).toMatchObject([{ state: 'paused', request: this.#openCall().key }]);
        expect(calls()[0]?.deadlineAt).toBeUndefined();
        expect(thread.snapshot().elicitations).toMatchObject([
          { token: this.#openQuestion().token, attribution: 'call', step: id, generation, server: 'docs' },
        ]);
      },
      closed: async () => {
        expect(thread.snapshot()).toMatchObject({ state: 'closed', runtimes: [], steps: [], elicitations: [] });
        expect(await errorOf(thread.beginStep())).toMatchObject({ code: 'thread_closed' });
      },
      'runtime.retired': () => {
        const { id, generation } = this.#openStep();
        expect(thread.snapshot().runtimes).toMatchObject([
          { generation, state: 'retired', holders: [{ kind: 'step', id }] },
          { generation: this.#generation, state: 'current', holders: [] },
        ]);
      },
      'runtime.current': async ({ conversation }) => {
        // H3: what nobody holds any more is gone within one macrotask.
        await turn();
        expect(thread.snapshot().runtimes).toHaveLength(conversation === 'closed' ? 0 : 1);
      },
      'server.up': ({ conversation }) => {
        this.#expectServer(conversation, 'ready');
      },
      'server.down': ({ conversation }) => {
        this.#expectServer(conversation, 'reconnecting');
      },
    };
  }

  #expectServer(conversation: ThreadTestState['conversation'], state: 'ready' | 'reconnecting'): void {
    if (conversation === 'starting' || conversation === 'closed') return;
    const generation = this.#step?.generation ?? this.#generation;
    const entry = this.watch.thread.snapshot().servers.find((server) => server.generations.includes(generation));
    expect(entry).toMatchObject({ name: 'docs', state });
  }

  async #expectAborted(call: OpenCall | undefined): Promise<void> {
    if (call === undefined) return;
    this.#call = undefined;
    expect(await errorOf(call.result)).toMatchObject({ code: 'aborted' });
    await this.#expectSettled('cancelled');
  }

  /** The question that was open is settled so, and an answer that comes too late hears it. */
  async #expectSettled(outcome: 'cancelled' | 'expired'): Promise<void> {
    const question = this.#question;
    this.#question = undefined;
    if (question === undefined) return;
    const fact = await this.watch.until('elicitation.settled', ({ token }) => token === question.token);
    expect(fact.outcome).toBe(outcome);
    const late = await this.watch.thread.respond(question.token, { action: 'decline' });
    expect(late).toMatchObject(outcome === 'expired' ? { status: 'expired' } : { status: 'settled', outcome });
  }

  get #neverReady(): boolean {
    return this.watch.of('runtime.published').length === 0;
  }

  #server(generation: number, isOpen = true): GatedServer {
    return new GatedServer({ era: this.#era, name: `docs ${String(generation)}` }, isOpen);
  }

  #serverOf(generation: number): GatedServer {
    return this.#servers.get(generation) ?? expect.fail(`Expected a server of runtime ${String(generation)}.`);
  }

  #pinnedServer(): GatedServer {
    return this.#serverOf(this.#step?.generation ?? this.#generation);
  }

  #openStep(): Step {
    return this.#step ?? expect.fail('Expected an open step.');
  }

  #openCall(): OpenCall {
    return this.#call ?? expect.fail('Expected an open call.');
  }

  #takeCall(): OpenCall {
    const call = this.#openCall();
    this.#call = undefined;
    return call;
  }

  #openQuestion(): PendingElicitation {
    return this.#question ?? expect.fail('Expected an open question.');
  }

  #takeQuestion(): PendingElicitation {
    const question = this.#openQuestion();
    this.#question = undefined;
    return question;
  }
}
