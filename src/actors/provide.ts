/**
 * The only place where the slots of the machines are filled: what the charts say, done.
 *
 * Filled once for all threads, since a filled machine is as large as its chart (PE-4): each slot finds the effects of its
 * thread through the actor system it runs in.
 */
import { fromPromise } from 'xstate';
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../api.ts';
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
import { effectsOf } from './effects.ts';
import { closeLinkLogic, linkLogic } from './link-actor.ts';
import { runtimeFailedError } from './publications.ts';
import { addTaskSlot } from './task-slot.ts';

let provided: typeof threadMachine | undefined;

/** The thread machine with every slot of it and of its children filled. The effects of each thread must be bound. */
export function provideThread(): typeof threadMachine {
  provided ??= fillThread();
  return provided;
}

function fillThread(): typeof threadMachine {
  const elicitation = provideElicitation();
  const call = provideCall(elicitation);
  return threadMachine.provide({
    actors: {
      router: provideRouter(),
      steps: createFleet(provideStep(call)),
      requests: createFleet(call),
      connections: createFleet(provideConnection(elicitation), { notify: false }),
      runtime: provideRuntime(),
    },
    actions: {
      announcePublished: ({ system }, { generation, replaced }) => {
        const effects = effectsOf(system);
        effects.facts.tell({ type: 'runtime.published', generation });
        tellMisconfigured(effects, generation);
        effects.publications.published(generation, replaced);
        effects.subscriptions?.published();
      },
      dropCandidate: ({ system }, { generation }) => {
        effectsOf(system).publications.superseded(generation);
      },
      rejectCandidate: ({ system }, { generation, servers }) => {
        effectsOf(system).publications.rejected(generation, runtimeFailedError(servers));
      },
      announceClosed: ({ system }) => {
        effectsOf(system).facts.tell({ type: 'thread.closed' });
      },
      reportError,
    },
  });
}

function provideRouter(): typeof routerMachine {
  return routerMachine.provide({
    actions: {
      reply: ({ system }, { ticket, outcome }) => {
        effectsOf(system).outcomes.set(ticket, outcome);
      },
    },
  });
}

function provideElicitation(): typeof elicitationMachine {
  return elicitationMachine.provide({
    actors: {
      decide: fromPromise(({ input, signal, system }: { input: Question; signal: AbortSignal; system: object }) =>
        effectsOf(system).questions.decide(input, signal),
      ),
      deadline: deadlineLogic(clockOf),
    },
    actions: {
      register: ({ context, system }) => {
        const { questions, servers } = effectsOf(system);
        questions.register(context);
        servers.noteQuestion(context.elicitation.generation, context.elicitation.server);
      },
      show: ({ context, system }) => {
        effectsOf(system).questions.show(context);
      },
      reply: ({ system }, { ticket, outcome }) => {
        effectsOf(system).outcomes.set(ticket, outcome);
      },
      settle: ({ context, system }, settlement) => {
        effectsOf(system).questions.settle(context, settlement);
      },
    },
  });
}

function provideCall(elicitation: typeof elicitationMachine): typeof callMachine {
  const filled = callMachine.provide({
    actors: { elicitation },
    actions: {
      noteActor: ({ context, self, system }) => {
        effectsOf(system).calls.noteActor(context, self);
      },
      requestTurn: ({ context, self, system }) => {
        effectsOf(system).calls.requestTurn(context, self);
      },
      releaseTurn: ({ context, system }) => {
        effectsOf(system).calls.releaseTurn(context);
      },
      resumeTurn: ({ context, system }) => {
        effectsOf(system).calls.resumeTurn(context);
      },
      sendRequest: ({ context, self, system }) => {
        effectsOf(system).calls.sendRequest(context, self);
      },
      cancelRequest: ({ context, system }) => {
        effectsOf(system).calls.cancelRequest(context);
      },
      armTimeLimit: ({ context, self, system }) => {
        effectsOf(system).calls.armTimeLimit(context, self);
      },
      disarmTimeLimit: ({ context, system }) => {
        effectsOf(system).calls.disarmTimeLimit(context);
      },
      armPauseLimit: ({ context, self, system }) => {
        effectsOf(system).calls.armPauseLimit(context, self);
      },
      announceStarted: ({ context, system }) => {
        effectsOf(system).calls.announce(context, 'call.started');
      },
      announcePaused: ({ context, system }) => {
        effectsOf(system).calls.announce(context, 'call.paused');
      },
      announceResumed: ({ context, system }) => {
        effectsOf(system).calls.announce(context, 'call.resumed');
      },
      cancelQuestions: ({ context, system }, { reason, expired }) => {
        const { questions, ending, input } = context;
        if (questions.length === 0) return;
        effectsOf(system).questions.cancelAll(questions, reason, expired, ending === null ? undefined : input.call);
      },
      finishTask: ({ context, system }, end) => {
        effectsOf(system).calls.finishTask(context, end);
      },
      settleCall: ({ context, system }) => {
        effectsOf(system).calls.settle(context);
      },
    },
  });
  addTaskSlot(filled.implementations.actors);
  return withShortcuts(filled, callShortcuts);
}

function provideStep(call: typeof callMachine): typeof stepMachine {
  return stepMachine.provide({
    actors: { calls: createFleet(call, { notify: false }) },
    actions: {
      announceBegan: ({ context, system }) => {
        effectsOf(system).facts.tell({ type: 'step.began', ...context });
      },
      announceEnded: ({ context, system }) => {
        effectsOf(system).facts.tell({ type: 'step.ended', ...context });
      },
      reportError,
    },
  });
}

function provideRuntime(): typeof runtimeMachine {
  return runtimeMachine.provide({
    actors: { deadline: deadlineLogic(clockOf) },
    actions: {
      schedule: ({ context, self, system }) => {
        const { servers, publications, clock } = effectsOf(system);
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
      announceStarting: ({ context, system }) => {
        effectsOf(system).facts.tell({ type: 'runtime.starting', generation: context.generation });
      },
      detach: ({ context, system }) => {
        effectsOf(system).servers.detach(context.generation);
      },
      announceRetired: ({ context, system }) => {
        effectsOf(system).facts.tell({ type: 'runtime.retired', generation: context.generation });
      },
      announceStopped: ({ context, system }) => {
        effectsOf(system).facts.tell({ type: 'runtime.stopped', generation: context.generation });
      },
      announceDiscarded: ({ context, system }, { reason }) => {
        const { servers, facts } = effectsOf(system);
        servers.noteDiscarded(context.generation, reason);
        facts.tell({ type: 'runtime.discarded', generation: context.generation, reason });
      },
    },
  });
}

function provideConnection(elicitation: typeof elicitationMachine): typeof connectionMachine {
  return connectionMachine.provide({
    actors: {
      link: linkLogic(effectsOf),
      closeLink: closeLinkLogic(effectsOf),
      deadline: deadlineLogic(clockOf),
      questions: createFleet(elicitation, { notify: false }),
    },
    actions: {
      announce: ({ context, system }, { state }) => {
        connectionChanged(effectsOf(system), context, state);
      },
      reportError,
    },
  });
}

function clockOf(system: object): Clock {
  return effectsOf(system).clock;
}

function reportError({ event, system }: { readonly event: object; readonly system: object }): void {
  const reason = 'error' in event ? String(event.error) : 'unknown reason';
  effectsOf(system).facts.warn('internal', `An actor inside the thread failed, and the thread goes on: ${reason}`);
}
