/** The two transitions nearly every call makes: onto the wire, and off it with a result. */
import type { StateValue } from 'xstate';
import type { CallContext, CallEvent, CallInput } from './call-context.ts';
import { contextOf } from './call-context.ts';
import type { Shortcut, ShortcutAction, Shortcuts } from './shortcut.ts';

const running = { onWire: 'running' };
const startActions = [{ type: 'announceStarted' }, { type: 'sendRequest' }, { type: 'armTimeLimit' }];
const endActions: readonly ShortcutAction[] = [
  { type: 'disarmTimeLimit', leaves: true },
  { type: 'cancelQuestions', params: { reason: 'its call ended', expired: false } },
  { type: 'settleCall' },
];

export const callShortcuts: Shortcuts<CallInput, CallContext, CallEvent> = {
  start(input): Shortcut<CallContext> | undefined {
    if (!input.admitted || input.approval !== undefined) return undefined;
    return { value: running, status: 'active', context: contextOf(input, input.at), actions: startActions };
  },
  step(value, context, event): Shortcut<CallContext> | undefined {
    if (event.type !== 'call.completed' || context.questions.length > 0 || context.task !== null) return undefined;
    if (!isRunning(value)) return undefined;
    return {
      value: 'settled',
      status: 'done',
      context: { ...context, ending: { outcome: 'completed', result: event.result } },
      output: { call: context.input.call, generation: context.input.generation },
      actions: endActions,
    };
  },
};

function isRunning(value: StateValue): boolean {
  return typeof value === 'object' && value['onWire'] === 'running';
}
