/** What can happen to one call, of every kind that asks a person something, and to one that waits behind another. */
import { setup } from 'xstate';

export const callsModel = setup({}).createMachine({
  id: 'calls',
  initial: 'quiet',
  states: {
    quiet: {
      on: {
        'user.calls': 'running',
        'user.callsForApproval': 'awaitingApproval',
        'user.callsBehind': 'queued',
        'user.callsFromTwoSteps': 'pair',
        'user.callsForTwoQuestions': 'twoQuestions',
        'user.callsForSampling': 'sampling',
        'user.callsForSignIn': 'signIn',
        'user.callsWhatFails': 'quiet',
      },
    },
    running: {
      on: {
        'server.answers': 'quiet',
        'server.asks': 'asking',
        'time.runsOut': 'quiet',
        'user.aborts': 'quiet',
        'user.endsStep': 'ended',
      },
    },
    asking: {
      on: {
        'person.answersWrongly': 'asking',
        'person.accepts': 'quiet',
        'person.declines': 'quiet',
        'time.passesPause': 'quiet',
        'user.aborts': 'quiet',
        'user.endsStep': 'ended',
      },
    },
    awaitingApproval: {
      on: { 'person.approves': 'quiet', 'person.declines': 'quiet', 'user.aborts': 'quiet', 'user.endsStep': 'ended' },
    },
    queued: { on: { 'server.answersFirst': 'running', 'user.aborts': 'quiet', 'user.endsStep': 'ended' } },
    pair: { on: { 'server.asks': 'pairAsking', 'user.endsStep': 'ended' } },
    pairAsking: { on: { 'person.accepts': 'quiet', 'user.aborts': 'quiet', 'user.endsStep': 'ended' } },
    twoQuestions: { on: { 'person.acceptsOne': 'oneQuestion', 'user.aborts': 'quiet', 'user.endsStep': 'ended' } },
    oneQuestion: { on: { 'person.acceptsOne': 'quiet', 'person.declines': 'quiet' } },
    sampling: { on: { 'person.samples': 'quiet', 'person.declines': 'quiet', 'user.aborts': 'quiet' } },
    signIn: { on: { 'person.signsIn': 'quiet', 'person.declines': 'quiet', 'user.aborts': 'quiet' } },
    ended: {},
  },
});
