/**
 * What happens to a host, as a chart: one conversation, one server of the step that is open, one question at a time.
 *
 * It says nothing of how a host does it: that is what `path.test` is given.
 */
import { setup, stateIn } from 'xstate';

/**
 * What a user, a person, a server and an operator do.
 *
 * - `host.becomesReady` the servers start, and the first runtime is published.
 * - `user.beginsStep` a model request begins, pinned to the current runtime.
 * - `user.callsTool` a tool of the step's server is called; it runs until `server.answersCall`.
 * - `server.answersCall` the call returns.
 * - `server.asks` the call asks the person something.
 * - `person.answersWrongly` an answer that does not fit the question: it stays open.
 * - `person.accepts`, `person.declines` the question is answered, and the call returns with what the person said.
 * - `user.abortsCall` the call is aborted; its question, if it has one, is cancelled.
 * - `user.endsStep` the step is ended; its call is aborted, and a retired runtime it held stops.
 * - `operator.replacesRuntime` a runtime with another connection to its server is published beside what goes on.
 * - `server.dies` the server of the open step, else of the current runtime, goes away; its running call fails. A question
 *   of a legacy server expires and its call fails with it; one of a modern server stays open, and its call waits.
 * - `server.comesBack` the same server can be reached again, and is.
 * - `user.closesThread` the thread is closed, whatever goes on in it.
 */
export const threadTestEventTypes = [
  'host.becomesReady',
  'user.beginsStep',
  'user.callsTool',
  'server.answersCall',
  'server.asks',
  'person.answersWrongly',
  'person.accepts',
  'person.declines',
  'user.abortsCall',
  'user.endsStep',
  'operator.replacesRuntime',
  'server.dies',
  'server.comesBack',
  'user.closesThread',
] as const;

/** What a user, a server or an operator does. */
export type ThreadTestEventType = (typeof threadTestEventTypes)[number];

export type ThreadTestMachine = ReturnType<typeof createThreadTestMachine>;

/** Makes the model for servers of one era. Without `invoke` and `after`: paths are generated from it. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- only XState can write the type of a chart
export function createThreadTestMachine(era: 'legacy' | 'modern') {
  return setup({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- how XState is told its types
    types: { events: {} as { readonly type: ThreadTestEventType } },
    guards: {
      inStep: stateIn({ conversation: 'stepping' }),
      isReady: stateIn({ conversation: 'idle' }),
      isUp: stateIn({ server: 'up' }),
      isRetired: stateIn({ runtime: 'retired' }),
      // A modern server holds nothing while it waits for input: its question outlives its connection.
      holdsItsQuestion: () => era === 'legacy',
    },
  }).createMachine({
    id: 'threadTest',
    description: 'What happens to a host: a conversation, the runtime of its step, the server it talks to.',
    type: 'parallel',
    states: {
      conversation: {
        description: 'What the user and the person see.',
        initial: 'starting',
        states: {
          starting: {
            description: 'No runtime was published yet.',
            on: { 'host.becomesReady': 'idle', 'user.closesThread': 'closed' },
          },
          idle: {
            description: 'A runtime is current, and no step is open.',
            on: { 'user.beginsStep': 'stepping', 'user.closesThread': 'closed' },
          },
          stepping: {
            description: 'A step is open.',
            initial: 'quiet',
            on: { 'user.endsStep': 'idle', 'user.closesThread': 'closed' },
            states: {
              quiet: {
                description: 'No call is open.',
                on: { 'user.callsTool': { guard: 'isUp', target: 'calling' } },
              },
              calling: {
                description: 'The server works on a call.',
                on: {
                  'server.answersCall': 'quiet',
                  'server.asks': 'asking',
                  'user.abortsCall': 'quiet',
                  'server.dies': 'quiet',
                },
              },
              asking: {
                description: 'The call waits for the answer to a question.',
                on: {
                  'person.answersWrongly': 'asking',
                  'person.accepts': { guard: 'isUp', target: 'quiet' },
                  'person.declines': { guard: 'isUp', target: 'quiet' },
                  'user.abortsCall': 'quiet',
                  'server.dies': { guard: 'holdsItsQuestion', target: 'quiet' },
                },
              },
            },
          },
          closed: { description: 'The thread is closed.' },
        },
      },
      runtime: {
        description: 'The runtime of the open step, if there is one.',
        initial: 'current',
        states: {
          current: {
            description: 'It was not replaced.',
            on: {
              'operator.replacesRuntime': [
                { guard: 'inStep', target: 'retired' },
                { guard: 'isReady', target: 'current' },
              ],
            },
          },
          retired: {
            description: 'It was replaced, and lives because the step holds it.',
            on: { 'operator.replacesRuntime': 'retired', 'user.endsStep': 'current', 'user.closesThread': 'current' },
          },
        },
      },
      server: {
        description: 'The server of the open step, else of the current runtime.',
        initial: 'up',
        states: {
          up: {
            description: 'It can be reached.',
            on: {
              'server.dies': [
                { guard: 'inStep', target: 'down' },
                { guard: 'isReady', target: 'down' },
              ],
            },
          },
          down: {
            description: 'It went away, and its connection waits for it.',
            on: {
              'server.comesBack': 'up',
              'user.endsStep': { guard: 'isRetired', target: 'up' },
              'operator.replacesRuntime': { guard: 'isReady', target: 'up' },
              'user.closesThread': 'up',
            },
          },
        },
      },
    },
  });
}
