/** A conversation as `@xstate/test` drives it, with the assertions of every part of a state. */
import { isRecord } from '../../src/domain/json.ts';
import type { ScriptedEra, ThreadTestState } from '../../src/testing/index.ts';
import { Conversation } from './conversation.ts';
import type { Driver } from './paths.ts';
import type { Observe } from './watched-thread.ts';

/** Starts a conversation over servers of an era. */
export function conversationDriver(era: ScriptedEra, observe: Observe): Driver {
  const conversation = new Conversation(era, observe);
  const { states = {} } = conversation.host;
  const step = { event: 'host.becomesReady', state: stateOf({}) } as const;
  return {
    events: Object.fromEntries(
      Object.entries(conversation.host.events).map(([type, handler]) => [type, () => handler(step)]),
    ),
    states: {
      '*': async ({ value }) => {
        const state = stateOf(value);
        const keys = [state.conversation, `runtime.${state.runtime}`, `server.${state.server}`, '*'] as const;
        for (const key of keys) await states[key]?.(state);
      },
    },
    [Symbol.asyncDispose]: () => conversation[Symbol.asyncDispose](),
  };
}

function stateOf(value: unknown): ThreadTestState {
  const { conversation, runtime, server } = value as ThreadTestState & { readonly conversation: unknown };
  const inside = isRecord(conversation) ? conversation['stepping'] : conversation;
  return { conversation: inside as ThreadTestState['conversation'], runtime, server };
}
