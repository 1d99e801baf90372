/** What policy and reviewer make of a question, read together at the moment it is asked (SPEC EL-6, ER-4). */
import type { ElicitationReviewer, SamplingHandler } from '../api.ts';
import type { ElicitationPolicy, Policy } from '../domain/config.ts';
import type { ElicitationAnswer } from '../domain/elicitation.ts';
import { messageOf } from '../domain/errors.ts';
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
    const reviewed = await review(elicitation.token, { elicitation }, ports.reviewer, ports);
    if (reviewed !== undefined) return reviewed;
  }
  if (kind === 'sampling' && typeof ports.sampling === 'function')
    return sample(elicitation.params ?? {}, elicitation.server, ports.sampling, ports);
  return { kind: 'show' };
}

async function review(
  token: string,
  request: Parameters<ElicitationReviewer>[0],
  reviewer: ElicitationReviewer,
  ports: DecisionPorts,
): Promise<Decision | undefined> {
  try {
    const answer = await reviewer(request, { signal: ports.signal });
    return answer === undefined ? undefined : { kind: 'answer', answer, reason: 'answered by the reviewer' };
  } catch (error) {
    ports.warn(
      'reviewer_failed',
      `The reviewer threw for question ${token}: ${messageOf(error)}. The question was declined.`,
    );
    return declined('the reviewer failed');
  }
}

async function sample(
  params: Parameters<SamplingHandler>[0],
  server: string,
  handler: SamplingHandler,
  ports: DecisionPorts,
): Promise<Decision> {
  try {
    const content = await handler(params, { server, signal: ports.signal });
    return { kind: 'answer', answer: { action: 'accept', content }, reason: 'answered by the sampling handler' };
  } catch (error) {
    ports.warn(
      'sampling_failed',
      `The sampling handler threw for server "${server}": ${messageOf(error)}. The request was declined.`,
    );
    return declined('the sampling handler failed');
  }
}

function declined(reason: string): Decision {
  const answer: ElicitationAnswer = { action: 'decline' };
  return { kind: 'answer', answer, reason };
}
