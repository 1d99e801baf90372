import { assign, createActor, fromTransition, setup } from 'xstate';
import type { AnyActorRef } from 'xstate';
import type { InspectionFrame } from '../../src/api.ts';
import { createInspectorBridge } from '../../src/inspector/index.ts';
import { createFleet } from '../../src/machines/fleet.ts';

interface CallTypes {
  context: { count: number; note: string };
  events: { type: 'call.ask'; text: string } | { type: 'call.end' };
}

const callTypes = {} as CallTypes;

/** Counts what it is asked, until it is told to end. */
export const callMachine = setup({
  types: callTypes,
}).createMachine({
  id: 'call',
  context: { count: 0, note: '' },
  initial: 'running',
  states: {
    running: {
      on: {
        'call.ask': { actions: assign({ count: ({ context }) => context.count + 1, note: ({ event }) => event.text }) },
        'call.end': 'ended',
      },
    },
    ended: { type: 'final' },
  },
});

interface ThreadTypes {
  context: { refs: Record<string, AnyActorRef> };
}

const threadTypes = {} as ThreadTypes;

/** A thread with a router, one call of its own and a fleet of calls. */
export const threadMachine = setup({
  types: threadTypes,
  actors: {
    call: callMachine,
    router: fromTransition((state: { n: number }) => state, { n: 0 }),
    calls: createFleet(callMachine),
  },
}).createMachine({
  id: 'thread-machine',
  context: ({ spawn }) => ({
    refs: { router: spawn('router', { id: 'router' }), first: spawn('call', { id: 'call-1' }) },
  }),
  invoke: { id: 'calls', src: 'calls' },
  initial: 'active',
  states: { active: {} },
});

/** A viewer that keeps what it gets. */
export function record(): { frames: InspectionFrame[]; send: (frame: InspectionFrame) => void } {
  const frames: InspectionFrame[] = [];
  return { frames, send: (frame) => frames.push(frame) };
}

/** Starts a thread with a bridge whose clock stands still. */
export function startThread(options: Parameters<typeof createInspectorBridge>[0] = {}) {
  const bridge = createInspectorBridge({ now: () => 1_700_000_000_000, ...options });
  const thread = createActor(threadMachine, { id: 'thread', inspect: bridge.inspect }).start();
  const child = (id: string): AnyActorRef => {
    const found: AnyActorRef | undefined = (thread.getSnapshot().children as Record<string, AnyActorRef>)[id];
    if (found === undefined) throw new Error(`no child ${id}`);
    return found;
  };
  return { bridge, thread, child };
}

/** A frame in a few words: its kind, its actor, its event. */
export const outline = (frame: InspectionFrame): string =>
  `${frame.type.slice('@xstate.'.length)} ${frame.sessionId}${frame.type === '@xstate.actor' ? '' : ` ${(frame['event'] as { type: string }).type}`}`;
