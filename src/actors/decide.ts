/** What policy and reviewer make of a question, read together at the moment it is asked (SPEC EL-6, ER-4). */
import type { ElicitationReviewer, SamplingHandler } from '../api.ts';
import { checkAnswer } from '../domain/answer.ts';
import type { ElicitationPolicy, Policy } from '../domain/config.ts';
import type { ElicitationAnswer, PendingElicitation } from '../domain/elicitation.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { isEmptyForm } from '../domain/form-schema.ts';
import type { Question } from '../domain/question.ts';
import type { Decision } from '../machines/elicitation.ts';

export interface DecisionPorts {
  readonly policy: Policy;
  readonly reviewer: ElicitationReviewer | undefined;
  readonly sampling: SamplingHandler | 'ask' | undefined;
  readonly signal: AbortSignal;
  warn(code: string, message: string): void;
}

/** The elicitation policy that holds for a server: its own settings over the thread's. */
export function policyFor(policy: Policy, server: string): ElicitationPolicy {
  return { ...policy.elicitation, ...policy.servers?.[server]?.elicitation };
}

/** Decides: auto-deny, empty form, refused kind, reviewer, a sampling handler; else it is shown. Never rejects. */
export async function decideQuestion({ elicitation }: Question, ports: DecisionPorts): Promise<Decision> {
  const policy = policyFor(ports.policy, elicitation.server);
  if (policy.autoDeny === true) return declined('declined by policy');
  const { kind } = elicitation;
  if (kind === 'form' && policy.acceptEmptyForms === true && isEmptyForm(elicitation.requestedSchema)) {
    return { kind: 'answer', answer: { action: 'accept', content: {} }, reason: 'an empty form, accepted by policy' };
  }
  if ((kind === 'form' && policy.forms === false) || (kind === 'url' && policy.urls === false))
    return declined('declined by policy');
  if (ports.reviewer !== undefined) {
    const reviewed = await review({ elicitation }, ports.reviewer, ports);
    if (reviewed !== undefined) return reviewed;
  }
  if (kind === 'sampling' && typeof ports.sampling === 'function') return sample(elicitation, ports.sampling, ports);
  return { kind: 'show' };
}

async function review(
  request: Parameters<ElicitationReviewer>[0],
  reviewer: ElicitationReviewer,
  ports: DecisionPorts,
): Promise<Decision | undefined> {
  try {
    const given: unknown = await reviewer(request, { signal: ports.signal });
    if (given === undefined) return undefined;
    return checked(request.elicitation, given, 'answered by the reviewer');
  } catch (error) {
    ports.warn(
      'reviewer_failed',
      `The reviewer failed for question ${request.elicitation.token}: ${messageOf(error)} The question was declined.`,
    );
    return declined('the reviewer failed');
  }
}

async function sample(
  elicitation: PendingElicitation,
  handler: SamplingHandler,
  ports: DecisionPorts,
): Promise<Decision> {
  const { server, params = {} } = elicitation;
  try {
    const content = await handler(params, { server, signal: ports.signal });
    return checked(elicitation, { action: 'accept', content }, 'answered by the sampling handler');
  } catch (error) {
    ports.warn(
      'sampling_failed',
      `The sampling handler failed for server "${server}": ${messageOf(error)} The request was declined.`,
    );
    return declined('the sampling handler failed');
  }
}

/** An answer from code is held to what one from a person is, and gets the same defaults (EL-4). */
function checked(elicitation: PendingElicitation, given: unknown, reason: string): Decision {
  const check = checkAnswer(elicitation, given);
  if (check.ok) return { kind: 'answer', answer: check.answer, reason };
  throw new HoldfastError('invalid_argument', check.issues.map(({ path, message }) => `${path} ${message}`).join(' '));
}

function declined(reason: string): Decision {
  const answer: ElicitationAnswer = { action: 'decline' };
  return { kind: 'answer', answer, reason };
}
