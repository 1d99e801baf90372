/** Real threads in situations that no path of a model comes to: odd servers, second tries, policies that answer. */
/* oxlint-disable vitest/no-standalone-expect -- these are the assertions of scenarios, and run inside their tests */
import { expect } from 'vitest';
import type { ElicitationReviewer, Step, ThreadOptions } from '../../src/index.ts';
import { deferred, rawServer, scriptedServer, serveHttp, SimulatedClock } from '../../src/testing/index.ts';
import type { RawMessage, ServerScript } from '../../src/testing/index.ts';
import { GatedServer } from './gated-server.ts';
import { errorOf, textOf, turn, WatchedThread } from './watched-thread.ts';
import type { Observe } from './watched-thread.ts';

export interface Scenario {
  readonly title: string;
  readonly run: (observe: Observe) => Promise<void>;
}

/** A step on a scripted server. */
async function onServer(
  script: ServerScript,
  options: Omit<ThreadOptions, 'servers'>,
  observe: Observe,
  act: (parts: { watch: WatchedThread; step: Step; server: ReturnType<typeof scriptedServer> }) => Promise<void>,
): Promise<void> {
  await using server = scriptedServer(script);
  const watch = new WatchedThread({ servers: { docs: server.config }, ...options }, observe);
  await act({ watch, step: await watch.thread.beginStep(), server });
  await watch.end();
}

const nextQuestion = async (watch: WatchedThread, from = 0) =>
  (await watch.until('elicitation.opened', () => true, from)).elicitation;

const toolCall = (message: RawMessage): boolean => message['method'] === 'tools/call';

export const scenarios: readonly Scenario[] = [
  {
    title: 'CN-3 CN-4 a listing that fails makes a server degraded, one that works makes it ready again',
    run: async (observe) => {
      let isFailing = true;
      const lists = (): number => peer.received.filter(({ method }) => method === 'tools/list').length;
      await using peer = rawServer((message, self) => {
        if (message['method'] !== 'tools/list') return false;
        if (isFailing) self.fail(message, -32_603, 'The list is lost.');
        return isFailing;
      });
      const watch = new WatchedThread({ servers: { docs: peer.config } }, observe);
      const relist = async (fails: boolean): Promise<void> => {
        const before = lists();
        isFailing = fails;
        peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
        while (lists() === before) await turn();
        for (let turns = 0; turns < 5; turns++) await turn();
      };
      await watch.until('server.changed', ({ state }) => state === 'degraded');
      await watch.thread.ready();
      await relist(true);
      await relist(false);
      expect(watch.thread.snapshot().servers).toMatchObject([{ state: 'ready', toolCount: 1 }]);
      await relist(false);
      await relist(true);
      expect(watch.thread.snapshot().servers).toMatchObject([{ state: 'degraded', toolCount: 1 }]);
      await watch.end();
    },
  },
  {
    title: 'CN-1 RT-7 a transport the caller gave is lost for good',
    run: async (observe) => {
      const peer = rawServer();
      const watch = new WatchedThread({ servers: { docs: peer.config } }, observe);
      await watch.thread.ready();
      await peer.close();
      await watch.until('server.changed', ({ state }) => state === 'failed');
      expect(await errorOf(watch.thread.restartServer('docs'))).toMatchObject({ code: 'unsupported' });
      await watch.end();
    },
  },
  {
    title: 'RT-7 a server that wants a credential is tried again only by a restart or a replacement',
    run: async (observe) => {
      await using server = await serveHttp();
      server.setStatus(401, { times: 100, headers: { 'www-authenticate': 'Bearer' } });
      const servers = { docs: server.config };
      const watch = new WatchedThread({ servers }, observe);
      const again = async (act: () => Promise<unknown>): Promise<void> => {
        const from = watch.facts.length;
        await act();
        await watch.until('server.changed', ({ state }) => state === 'authRequired', from);
      };
      await watch.until('server.changed', ({ state }) => state === 'authRequired');
      await watch.thread.ready();
      await again(() => watch.thread.restartServer('docs'));
      await again(() => watch.thread.replaceRuntime({ servers }));
      await watch.end();
    },
  },
  {
    title:
      'RT-7 a server that did not start, or waits to be tried again, is tried at once by a restart or a replacement',
    run: async (observe) => {
      const clock = new SimulatedClock();
      const server = new GatedServer({}, false);
      server.refuse();
      const servers = { docs: server.config };
      const watch = new WatchedThread({ servers, clock }, observe);
      await watch.until('server.changed', ({ state }) => state === 'failed');
      await watch.thread.ready();
      const before = watch.facts.length;
      await watch.thread.restartServer('docs').catch(() => undefined);
      await watch.until('server.changed', ({ state }) => state === 'failed', before);
      await server.die();
      server.open();
      const from = watch.facts.length;
      await watch.thread.replaceRuntime({ servers });
      await watch.until('server.changed', ({ state }) => state === 'ready', from);
      await server.die();
      await watch.until('server.changed', ({ state }) => state === 'reconnecting', from);
      server.open();
      const later = watch.facts.length;
      await watch.thread.replaceRuntime({ servers });
      await watch.until('server.changed', ({ state }) => state === 'ready', later);
      await watch.end();
    },
  },
  {
    title: 'ER-2 rounds that only carry a state are sent at once, ten times at most',
    run: (observe) =>
      onServer({ era: 'modern' }, {}, observe, async ({ watch, step }) => {
        const result = step.callTool('mcp__docs__ask', { stateOnlyRounds: 3 });
        const { token } = await nextQuestion(watch);
        await watch.thread.respond(token, { action: 'accept', content: { name: 'Ada' } });
        expect(textOf(await result)).toContain('Ada');
        const endless = step.callTool('mcp__docs__ask', { stateOnlyRounds: 50 });
        expect(await errorOf(endless)).toMatchObject({ code: 'limit_exceeded', outcome: 'failed' });
      }),
  },
  {
    title: 'EL-5 a server that wants a second sign-in after the first does not get it',
    run: (observe) =>
      onServer({ era: 'legacy' }, {}, observe, async ({ watch, step }) => {
        const result = step.callTool('mcp__docs__requireUrl', { urls: [{ url: 'https://example.com/in' }] });
        const { token } = await nextQuestion(watch);
        await watch.thread.respond(token, { action: 'accept' });
        expect(await errorOf(result)).toMatchObject({ code: 'auth_required' });
      }),
  },
  {
    title: 'H6 RT-10 a tool that may be repeated is sent once more after a loss, and not a third time',
    run: async (observe) => {
      const server = new GatedServer({ era: 'legacy' });
      const docs = { ...server.config, retry: 'idempotent' } as const;
      const watch = new WatchedThread({ servers: { docs } }, observe);
      const step = await watch.thread.beginStep();
      const result = step.callTool('mcp__docs__idempotent', { key: 'first' });
      result.catch(() => undefined);
      await server.peer.untilParked('first');
      await server.die();
      server.open();
      await server.peer.until(({ kind, key }) => kind === 'parked' && key === 'first', server.peer.journal.length);
      await server.die();
      server.open();
      expect(await errorOf(result)).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
      expect(server.peer.calls('idempotent')).toBe(2);
      await watch.end();
    },
  },
  {
    title:
      'H5 H6 RT-10 a call whose server goes while it waits for an answer may have run, even if it could be sent again',
    run: async (observe) => {
      const tool = { name: 'write', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } };
      await using peer = rawServer((message) => toolCall(message), { tools: [tool] });
      const docs = { ...peer.config, retry: 'idempotent' } as const;
      const watch = new WatchedThread({ servers: { docs } }, observe);
      const step = await watch.thread.beginStep();
      const result = step.callTool('mcp__docs__write', {});
      result.catch(() => undefined);
      await peer.waitFor(toolCall);
      const params = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
      peer.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params });
      await nextQuestion(watch);
      await peer.close();
      expect(await errorOf(result)).toMatchObject({ code: 'server_unavailable', outcome: 'unknown' });
      expect(watch.of('elicitation.settled')).toMatchObject([{ outcome: 'expired' }]);
      expect(peer.received.filter(toolCall)).toHaveLength(1);
      await watch.end();
    },
  },
  {
    title: 'RT-2 a request outside a step holds the current runtime while it runs',
    run: (observe) =>
      onServer({}, {}, observe, async ({ watch }) => {
        await watch.thread.listTools('docs');
        expect(watch.thread.snapshot().runtimes).toMatchObject([{ holders: [{ kind: 'step' }] }]);
      }),
  },
  {
    title: 'EL-9 EL-11 two calls that cannot be told apart wait for all questions, and a result ends either at once',
    run: (observe) =>
      onServer({ era: 'legacy' }, {}, observe, async ({ watch, step, server }) => {
        const other = await watch.thread.beginStep();
        const asking = step.callTool('mcp__docs__ask', { key: 'asking', questions: 2 });
        const parked = other.callTool('mcp__docs__park', { key: 'parked' });
        await Promise.all([server.untilParked('asking'), server.untilParked('parked')]);
        server.release('asking');
        await nextQuestion(watch);
        while (watch.thread.snapshot().elicitations.length < 2) await turn();
        expect(watch.thread.snapshot().elicitations).toMatchObject([
          { attribution: 'ambiguous' },
          { attribution: 'ambiguous' },
        ]);
        server.release('parked', 'done');
        expect(textOf(await parked)).toBe('done');
        for (const { token } of watch.thread.snapshot().elicitations)
          await watch.thread.respond(token, { action: 'decline' });
        expect(textOf(await asking)).toContain('decline');
      }),
  },
  {
    title: 'EL-6 E2 while a reviewer thinks, an answer counts if it fits',
    run: async (observe) => {
      const thinking = deferred();
      let attempt: Promise<unknown> = Promise.resolve();
      const reviewer: ElicitationReviewer = async ({ elicitation }) => {
        attempt = watch.thread.respond(elicitation.token, { action: 'accept', content: { name: 7 } });
        await watch.thread.respond(elicitation.token, { action: 'accept', content: { name: 'Ada' } });
        await thinking.promise;
        return { action: 'decline' };
      };
      await using server = scriptedServer({ era: 'legacy' });
      const watch: WatchedThread = new WatchedThread({ servers: { docs: server.config }, reviewer }, observe);
      const step = await watch.thread.beginStep();
      expect(textOf(await step.callTool('mcp__docs__ask', {}))).toContain('Ada');
      expect(await attempt).toMatchObject({ status: 'invalid' });
      thinking.resolve();
      await watch.end();
    },
  },
  {
    title: 'EL-6 a policy that answers shows nothing',
    run: (observe) =>
      onServer({ era: 'modern' }, { policy: { elicitation: { autoDeny: true } } }, observe, async ({ watch, step }) => {
        expect(textOf(await step.callTool('mcp__docs__ask', {}))).toContain('decline');
        expect(watch.of('elicitation.opened')).toEqual([]);
      }),
  },
  {
    title: 'EL-7 a question nobody answers expires after unattendedMs',
    run: async (observe) => {
      const clock = new SimulatedClock();
      const policy = { elicitation: { unattendedMs: 1_000 } };
      await onServer({ era: 'legacy' }, { clock, policy }, observe, async ({ watch, step }) => {
        const result = step.callTool('mcp__docs__ask', {});
        await nextQuestion(watch);
        clock.increment(1_000);
        expect(textOf(await result)).toContain('cancel');
        expect(watch.of('elicitation.settled')).toMatchObject([{ outcome: 'expired' }]);
      });
    },
  },
];
