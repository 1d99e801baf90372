/** What policy and reviewer make of a question, read together at the moment it is asked (SPEC EL-6, ER-4). */
import type { Clock, ElicitationReviewer, SamplingHandler } from '../api.ts';
import { checkAnswer } from '../domain/answer.ts';
import { defaults } from '../domain/config.ts';
import type { ElicitationPolicy, Policy } from '../domain/config.ts';
import type { ElicitationAnswer, PendingElicitation } from '../domain/elicitation.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { isEmptyForm } from '../domain/form-schema.ts';
import { timeOf } from '../domain/question.ts';
import type { Question } from '../domain/question.ts';
import type { Decision } from '../machines/elicitation.ts';
import type { Approvals } from './approvals.ts';
import { within } from './within.ts';

/** Who decides for the person. Read whole at the moment of use; replaced whole. */
export interface Authority {
  readonly policy: Policy;
  readonly reviewer: ElicitationReviewer | undefined;
  readonly sampling: SamplingHandler | 'ask' | undefined;
}

export interface DecisionPorts {
  readonly authority: Authority;
  readonly approvals: Approvals;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  warn(code: string, message: string): void;
}

/** The elicitation policy that holds for a server: its own settings over the thread's. */
export function policyFor(policy: Policy, server: string): ElicitationPolicy {
  return { ...policy.elicitation, ...policy.servers?.[server]?.elicitation };
}

/**
 * Decides: auto-deny, empty form, refused kind, an earlier approval, reviewer, a sampling handler; else it is shown. Never
 * rejects.
 */
export async function decideQuestion(question: Question, ports: DecisionPorts): Promise<Decision> {
  const { policy, reviewer, sampling } = ports.authority;
  const refused = decideByPolicy(question.elicitation, policy);
  if (refused !== undefined) return refused;
  const { kind } = question.elicitation;
  const consulted = kind === 'approval' ? await ports.approvals.consult(question, ports.signal) : question;
  if ('kind' in consulted && consulted.kind === 'remembered') return approvedBefore;
  const { elicitation } = consulted;
  if (reviewer !== undefined) {
    const reviewed = await review({ elicitation }, reviewer, ports);
    if (reviewed !== undefined) {
      if (isLasting(reviewed.answer)) ports.approvals.remember(question, reviewed.answer);
      return reviewed;
    }
  }
  if (kind === 'sampling' && typeof sampling === 'function') return sample(elicitation, sampling, ports);
  return { kind: 'show', elicitation };
}

/** Gives who decides no more time than the person would have (EL-7); what it returns ends the limit. */
export function limitDecision(
  { elicitation: { expiresAt } }: Question,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  expire: (reason: string) => void,
): () => void {
  if (expiresAt === undefined) return nothing;
  const timer = clock.setTimeout(
    () => {
      expire('nobody answered in time');
    },
    Math.max(0, timeOf(expiresAt) - clock.now()),
  );
  const end = (): void => {
    clock.clearTimeout(timer);
    signal.removeEventListener('abort', end);
  };
  signal.addEventListener('abort', end);
  return end;
}

function nothing(): void {}

type Answered = Extract<Decision, { kind: 'answer' }>;

const approvedBefore: Answered = {
  kind: 'answer',
  answer: { action: 'accept' },
  reason: 'approved before',
};

function decideByPolicy(elicitation: PendingElicitation, whole: Policy): Answered | undefined {
  const policy = policyFor(whole, elicitation.server);
  if (policy.autoDeny === true) return declined('declined by policy');
  const { kind } = elicitation;
  if (kind === 'form' && policy.acceptEmptyForms === true && isEmptyForm(elicitation.requestedSchema)) {
    return { kind: 'answer', answer: { action: 'accept', content: {} }, reason: 'an empty form, accepted by policy' };
  }
  const isRefused =
    (kind === 'form' && policy.forms === false) ||
    (kind === 'url' && policy.urls === false) ||
    (kind === 'approval' && policy.approvals === false);
  return isRefused ? declined('declined by policy') : undefined;
}

/** A reviewer that says how long its approval holds speaks for the person; one that does not is asked each time. */
function isLasting(answer: ElicitationAnswer): boolean {
  const remember = answer.action === 'accept' ? answer.content?.['remember'] : undefined;
  return remember === 'session' || remember === 'always';
}

async function review(
  request: Parameters<ElicitationReviewer>[0],
  reviewer: ElicitationReviewer,
  ports: DecisionPorts,
): Promise<Answered | undefined> {
  const { clock, signal } = ports;
  const { reviewerTimeoutMs: ms = defaults.reviewerTimeoutMs } = policyFor(
    ports.authority.policy,
    request.elicitation.server,
  );
  const tooLate = new AbortController();
  const ask = async (): Promise<unknown> => reviewer(request, { signal: AbortSignal.any([signal, tooLate.signal]) });
  try {
    // No opinion in time is none: a person is there to be asked.
    const given = await within(ask(), { ms, clock, signal }, () => {
      ports.warn(
        'reviewer_timed_out',
        `Expected the reviewer to answer question ${request.elicitation.token} within ${String(ms)} ms, and it did not. The question is put to the person; what the reviewer says later is ignored.`,
      );
      tooLate.abort();
      return undefined;
    });
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
function checked(elicitation: PendingElicitation, given: unknown, reason: string): Answered {
  const check = checkAnswer(elicitation, given);
  if (check.ok) return { kind: 'answer', answer: check.answer, reason };
  throw new HoldfastError('invalid_argument', check.issues.map(({ path, message }) => `${path} ${message}`).join(' '));
}

function declined(reason: string): Answered {
  const answer: ElicitationAnswer = { action: 'decline' };
  return { kind: 'answer', answer, reason };
}
