/** The only place where the slots of the machines are filled: what the charts say, done. */
import { fromPromise } from 'xstate';
import type { AnyActorRef } from 'xstate';
import type { Question } from '../domain/question.ts';
import { callMachine } from '../machines/call.ts';
import { callShortcuts } from '../machines/call-shortcuts.ts';
import { connectionMachine } from '../machines/connection.ts';
import { elicitationMachine } from '../machines/elicitation.ts';
import { createFleet } from '../machines/fleet.ts';
import { routerMachine } from '../machines/router.ts';
import { runtimeMachine } from '../machines/runtime.ts';
import { withShortcuts } from '../machines/shortcut.ts';
import { stepMachine } from '../machines/step.ts';
import { threadMachine } from '../machines/thread.ts';
import { connectionChanged, tellMisconfigured } from './connection-facts.ts';
import { deadlineLogic } from './deadline.ts';
import type { Effects } from './effects.ts';
import type { Facts } from './facts.ts';
import { closeLinkLogic, linkLogic } from './link-actor.ts';
import { runtimeFailedError } from './publications.ts';

/** The thread machine with every slot of it and of its children filled. */
export function provideThread(effects: Effects): typeof threadMachine {
  const { facts, publications } = effects;
  const elicitation = provideElicitation(effects);
  const call = provideCall(effects, elicitation);
  return threadMachine.provide({
    actors: {
      router: provideRouter(effects),
      steps: createFleet(provideStep(effects, call)),
      requests: createFleet(call),
      connections: createFleet(provideConnection(effects, elicitation), { notify: false }),
      runtime: provideRuntime(effects),
    },
    actions: {
      announcePublished: (_, { generation, replaced }) => {
        facts.tell({ type: 'runtime.published', generation });
        tellMisconfigured(effects, generation);
        publications.published(generation, replaced);
      },
      dropCandidate: (_, { generation }) => {
        publications.superseded(generation);
      },
      rejectCandidate: (_, { generation, servers }) => {
        publications.rejected(generation, runtimeFailedError(servers));
      },
      announceClosed: () => {
        facts.tell({ type: 'thread.closed' });
      },
      reportError: reportTo(facts),
    },
  });
}

function provideRouter(effects: Effects): typeof routerMachine {
  return routerMachine.provide({
    actions: {
      reply: (_, { ticket, outcome }) => {
        effects.outcomes.set(ticket, outcome);
      },
    },
  });
}

function provideElicitation(effects: Effects): typeof elicitationMachine {
  const { questions, outcomes, clock } = effects;
  return elicitationMachine.provide({
    actors: {
      decide: fromPromise(({ input, signal }: { input: Question; signal: AbortSignal }) =>
        questions.decide(input, signal),
      ),
      deadline: deadlineLogic(clock),
    },
    actions: {
      register: ({ context }) => {
        questions.register(context);
      },
      show: ({ context }) => {
        questions.show(context);
      },
      reply: (_, { ticket, outcome }) => {
        outcomes.set(ticket, outcome);
      },
      settle: ({ context }, settlement) => {
        questions.settle(context, settlement);
      },
    },
  });
}

function provideCall(effects: Effects, elicitation: typeof elicitationMachine): typeof callMachine {
  const { calls, questions } = effects;
  const provided = callMachine.provide({
    actors: { elicitation },
    actions: {
      noteActor: ({ context, self }) => {
        calls.noteActor(context, self);
      },
      requestTurn: ({ context, self }) => {
        calls.requestTurn(context, self);
      },
      releaseTurn: ({ context }) => {
        calls.releaseTurn(context);
      },
      resumeTurn: ({ context }) => {
        calls.resumeTurn(context);
      },
      sendRequest: ({ context, self }) => {
        calls.sendRequest(context, self);
      },
      cancelRequest: ({ context }) => {
        calls.cancelRequest(context);
      },
      armTimeLimit: ({ context, self }) => {
        calls.armTimeLimit(context, self);
      },
      disarmTimeLimit: ({ context }) => {
        calls.disarmTimeLimit(context);
      },
      armPauseLimit: ({ context, self }) => {
        calls.armPauseLimit(context, self);
      },
      announceStarted: ({ context }) => {
        calls.announce(context, 'call.started');
      },
      announcePaused: ({ context }) => {
        calls.announce(context, 'call.paused');
      },
      announceResumed: ({ context }) => {
        calls.announce(context, 'call.resumed');
      },
      cancelQuestions: ({ context }, { reason, expired }) => {
        const { questions: open, ending, input } = context;
        if (open.length > 0) questions.cancelAll(open, reason, expired, ending === null ? undefined : input.call);
      },
      settleCall: ({ context }) => {
        calls.settle(context);
      },
    },
  });
  return withShortcuts(provided, callShortcuts);
}

function provideStep({ facts }: Effects, call: typeof callMachine): typeof stepMachine {
  return stepMachine.provide({
    actors: { calls: createFleet(call, { notify: false }) },
    actions: {
      announceBegan: ({ context }) => {
        facts.tell({ type: 'step.began', ...context });
      },
      announceEnded: ({ context }) => {
        facts.tell({ type: 'step.ended', ...context });
      },
      reportError: reportTo(facts),
    },
  });
}

function provideRuntime(effects: Effects): typeof runtimeMachine {
  const { servers, facts, clock, publications } = effects;
  return runtimeMachine.provide({
    actors: { deadline: deadlineLogic(clock) },
    actions: {
      schedule: ({ context, self }) => {
        const begin = (actor: AnyActorRef): void => {
          if (actor.getSnapshot().status !== 'active') return;
          actor.send({
            type: 'runtime.begin',
            servers: servers.begin(context.generation, publications.current),
            at: clock.now(),
          });
        };
        setImmediate(begin, self as AnyActorRef);
      },
      announceStarting: ({ context }) => {
        facts.tell({ type: 'runtime.starting', generation: context.generation });
      },
      detach: ({ context }) => {
        servers.detach(context.generation);
      },
      announceRetired: ({ context }) => {
        facts.tell({ type: 'runtime.retired', generation: context.generation });
      },
      announceStopped: ({ context }) => {
        facts.tell({ type: 'runtime.stopped', generation: context.generation });
      },
      announceDiscarded: ({ context }, { reason }) => {
        servers.noteDiscarded(context.generation, reason);
        facts.tell({ type: 'runtime.discarded', generation: context.generation, reason });
      },
    },
  });
}

function provideConnection(effects: Effects, elicitation: typeof elicitationMachine): typeof connectionMachine {
  const ports = { ...effects, questions: effects.questions, random: Math.random };
  return connectionMachine.provide({
    actors: {
      link: linkLogic(ports),
      closeLink: closeLinkLogic(effects),
      deadline: deadlineLogic(effects.clock),
      questions: createFleet(elicitation, { notify: false }),
    },
    actions: {
      announce: ({ context }, { state }) => {
        connectionChanged(effects, context, state);
      },
      reportError: reportTo(effects.facts),
    },
  });
}

function reportTo(facts: Facts): (args: { readonly event: object }) => void {
  return ({ event }) => {
    const reason = 'error' in event ? String(event.error) : 'unknown reason';
    facts.warn('internal', `An actor inside the thread failed, and the thread goes on: ${reason}`);
  };
}
