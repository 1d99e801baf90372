/**
 * The effects of elicitations: reading what servers ask, deciding it by policy, showing it, telling the asker.
 *
 * Owns the list of shown questions and the ways back to the legacy requests that asked.
 *
 * - Q1 Every legacy request that asked is answered exactly once, or its link is gone (H5).
 * - Q2 A question of one call is its child; one that may belong to several is a child of the connection (EL-11), and so
 *   are those of a call that already has very many.
 */
import type { ActorSystem, ActorSystemInfo, AnyActorRef, AnyEventObject } from 'xstate';
import type { Clock, Root } from '../api.ts';
import { approvedTool, rememberChoices } from '../domain/approval-memory.ts';
import type { ApprovalMode } from '../domain/config.ts';
import type { PendingElicitation } from '../domain/elicitation.ts';
import { messageOf } from '../domain/errors.ts';
import type { Failure } from '../domain/errors.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isJsonObject } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { QuestionReply, ServerQuestion } from '../domain/link.ts';
import { isoTime, replyOf } from '../domain/question.ts';
import type { Asker, Question, Settlement } from '../domain/question.ts';
import type { Redactor } from '../domain/redact.ts';
import { relatedTaskKey, relatedTaskOf } from '../domain/task.ts';
import type { ToolInfo } from '../domain/tool.ts';
import type { CallInput } from '../machines/call-context.ts';
import type { Decision } from '../machines/elicitation.ts';
import type { Approvals } from './approvals.ts';
import { authorizationQuestions } from './authorization-questions.ts';
import type { CallRecord, Calls } from './calls.ts';
import { decideQuestion, limitDecision, policyFor } from './decide.ts';
import type { Authority } from './decide.ts';
import type { Facts } from './facts.ts';
import { readRequests, readRound } from './input-requests.ts';
import type { ReadRequests } from './input-requests.ts';
import { PendingList } from './pending-list.ts';
import { placeQuestion } from './place-question.ts';
import type { Placed } from './place-question.ts';
import { maxChildQuestions, readQuestion } from './read-question.ts';
import type { Servers } from './servers.ts';
import type { LiveConnection } from './servers.ts';
import { UrlQuestions } from './url-questions.ts';

export interface QuestionsPorts {
  readonly clock: Clock;
  readonly facts: Facts;
  readonly redactor: Redactor;
  readonly calls: Calls;
  readonly servers: Servers;
  readonly approvals: Approvals;
  authority(): Authority;
  /** 16 or more random bytes as base64url. */
  randomToken(): string;
  roots(): readonly Root[];
  system(): ActorSystem<ActorSystemInfo>;
}

export class Questions {
  readonly shown: PendingList;
  readonly #ports: QuestionsPorts;
  /** `connection id` of an open legacy request → its token and the way back. */
  readonly #requests = new Map<string, { readonly token: string; readonly answer: (reply: QuestionReply) => void }>();
  readonly #ofConnection = new Map<string, Set<string>>();
  readonly #candidates = new Map<string, readonly CallRecord[]>();
  readonly #urls = new UrlQuestions();

  constructor(ports: QuestionsPorts) {
    this.#ports = ports;
    this.shown = new PendingList((error) => {
      ports.facts.warn(
        'listener_failed',
        `A listener of elicitations$ threw: ${messageOf(error)}. The thread goes on; what it throws later is not reported.`,
      );
    });
  }

  /** A legacy server asks. */
  asked(connection: LiveConnection, asked: ServerQuestion, reply: (reply: QuestionReply) => void): void {
    const answer = withTask(asked, reply);
    if (asked.method === 'roots/list') {
      answer({ result: { roots: this.#ports.roots().map((root) => ({ ...root })) } });
      return;
    }
    const { placed, record, askers } = placeQuestion(asked, connection, this.#ports.calls);
    const asker: Asker = { kind: 'request', connection: connection.id, id: asked.id, method: asked.method };
    const question = this.#question(connection.server, asked.method, asked.params, placed, asker);
    if (typeof question === 'string') {
      this.#refuse(connection.server, question);
      answer(
        asked.method === 'elicitation/create'
          ? { result: { action: 'decline' } }
          : { error: { code: -32602, message: question } },
      );
      return;
    }
    const { token } = question.elicitation;
    this.#requests.set(requestId(connection.id, asked.id), { token, answer });
    setOf(this.#ofConnection, connection.id).add(token);
    if (question.elicitation.kind === 'url') this.#urls.note(connection.id, asked.params, token);
    const parent = record !== undefined && record.questions < maxChildQuestions ? record : undefined;
    if (record !== undefined) record.questions += 1;
    this.#put(connection, question, parent, parent === undefined ? askers : []);
  }

  /** A legacy server takes its question back. */
  withdrawn(connection: LiveConnection, id: string | number): void {
    const open = this.#requests.get(requestId(connection.id, id));
    if (open !== undefined) this.takeBack(open.token);
  }

  /** A url question was finished out of band: that is its acceptance. */
  completed(connection: LiveConnection, elicitationId: string): void {
    const token = this.#urls.tokenOf(connection.id, elicitationId);
    if (token !== undefined)
      this.#send(token, {
        type: 'elicitation.answer',
        answer: { action: 'accept' },
        at: this.#ports.clock.now(),
        ticket: 0,
      });
  }

  /** The link of a connection is gone, and with it the way back: lost, or let go of on purpose (EL-3). */
  linkGone(connection: LiveConnection, reason: string, how: 'expire' | 'cancel' = 'expire'): void {
    const tokens = this.#ofConnection.get(connection.id);
    if (tokens === undefined) return;
    for (const token of [...tokens])
      this.#send(token, { type: `elicitation.${how}`, reason, at: this.#ports.clock.now() });
    this.#ofConnection.delete(connection.id);
  }

  /** A modern result asks for input: every entry becomes a question, or is answered here. */
  inputRequired(record: CallRecord, result: JsonObject): void {
    const { requestState } = result;
    const read = readRound(result, record.input, (entries) =>
      this.readRequests(record, entries, (key) => ({ kind: 'round', key })),
    );
    if (read.kind === 'failed') {
      record.ref?.send({ type: 'call.failed', outcome: 'failed', failure: read.failure });
      return;
    }
    record.ref?.send({
      type: 'call.inputRequired',
      questions: read.questions,
      responses: read.responses,
      at: this.#ports.clock.now(),
      ...(requestState === undefined ? {} : { requestState }),
    });
  }

  /** Reads what a modern server asks during a call: of its result, or of the task it made of it. */
  readRequests(
    { input }: CallRecord,
    entries: readonly (readonly [string, unknown])[],
    asker: (key: string) => Asker,
  ): ReadRequests {
    const { server, name, generation } = input;
    return readRequests(entries, {
      server,
      name,
      asker,
      offersSampling: this.#ports.authority().sampling !== undefined,
      roots: { roots: this.#ports.roots().map((root) => ({ ...root })) },
      question: (method, params, whose) =>
        this.#question(server, method, params, { attribution: 'call', generation, input }, whose),
      refuse: (reason) => {
        this.#refuse(server, reason);
      },
    });
  }

  /** A server does not ask a question any more. */
  takeBack(token: string): void {
    this.#send(token, { type: 'elicitation.withdraw', reason: 'withdrawn', at: this.#ports.clock.now() });
  }

  /** A call was refused until a person signs in somewhere (-32042); gives the reason why nobody can be asked to. */
  authorizationRequired(record: CallRecord, data: unknown): Failure | undefined {
    const { connection, input } = record;
    const { server, generation } = input;
    const questions = authorizationQuestions(record, data, {
      question: (params) => this.signIn(server, params, { attribution: 'call', generation, input }),
      refuse: (reason) => this.#refuse(server, reason),
      note: (entry, token) => {
        if (connection !== undefined) this.#urls.note(connection.id, entry, token);
      },
    });
    if ('code' in questions) return questions;
    record.ref?.send({ type: 'call.authorizationRequired', questions, at: this.#ports.clock.now() });
    return undefined;
  }

  /** The question that sends a person to sign in; a text says why it cannot be put. */
  signIn(server: string, params: JsonObject, placed: Placed): Question | string {
    return this.#question(server, 'elicitation/create', params, placed, { kind: 'authorization' });
  }

  /** Calls back once a url question has ended. */
  whenSettled(token: string, told: (settlement: Settlement) => void): void {
    this.#urls.watch(token, told);
  }

  /** The question of kind `approval` that is put before a call. */
  approval(
    input: Pick<CallInput, 'step' | 'call' | 'request' | 'server' | 'tool' | 'generation'>,
    args: JsonObject | undefined,
    info: ToolInfo,
    mode: ApprovalMode,
  ): Question {
    const placed: Placed = { attribution: 'call', generation: input.generation, input };
    const base = this.#base(input.server, placed);
    const message = `Allow the tool "${input.tool}" of server "${input.server}" to run?`;
    // Where every call is to be asked for, no answer holds for the next one.
    const remembers = mode !== 'prompt';
    const remember = remembers ? rememberChoices : onlyOnce;
    return {
      elicitation: {
        ...base,
        kind: 'approval',
        message,
        params: { server: input.server, tool: input.tool, arguments: args ?? {}, remember },
      },
      asker: { kind: 'approval', tool: approvedTool(info), remembers },
    };
  }

  // Slots.

  register(question: Question): void {
    this.#send('router', { type: 'router.register', token: question.elicitation.token });
  }

  async decide(question: Question, signal: AbortSignal): Promise<{ decision: Decision; at: number }> {
    // Nobody is asked before the token is registered, which the same turn of the actors does (EL-1).
    await Promise.resolve();
    const { approvals, facts, clock } = this.#ports;
    // Nobody is asked about what is gone by then; what is decided of it is never heard.
    if (signal.aborted) return { decision: { kind: 'show' }, at: clock.now() };
    const { token } = question.elicitation;
    const done = limitDecision(question, { clock, signal }, (reason) => {
      this.#send(token, { type: 'elicitation.expire', reason, at: clock.now() });
    });
    const decision = await decideQuestion(question, {
      authority: this.#ports.authority(),
      approvals,
      clock,
      signal,
      warn: (code, message) => facts.warn(code, message, question.elicitation.server),
    });
    done();
    return { decision, at: clock.now() };
  }

  show({ elicitation }: Question): void {
    const shown = this.#ports.redactor.value(elicitation);
    this.shown.add(shown);
    this.#ports.facts.tell({ type: 'elicitation.opened', elicitation: shown });
  }

  settle(question: Question, settlement: Settlement): void {
    const { elicitation, asker } = question;
    const { token, outcome, reason } = settlement;
    const wasShown = this.shown.remove(token);
    this.#urls.settled(settlement);
    if (asker.kind === 'request') this.#reply(asker, elicitation, settlement);
    // Before the call goes on: the next one is not asked for again.
    if (wasShown && outcome === 'accepted' && settlement.answer !== undefined)
      this.#ports.approvals.remember(question, settlement.answer);
    this.#send('router', { type: 'router.settled', settlement });
    if (wasShown)
      this.#ports.facts.tell({
        type: 'elicitation.settled',
        token,
        outcome,
        ...(reason === undefined ? {} : { reason }),
      });
    const candidates = this.#candidates.get(token) ?? [];
    this.#candidates.delete(token);
    for (const record of candidates) record.ref?.send({ type: 'question.settled', settlement });
  }

  /** Settles the open questions of a call that paused too long, or of one that ends: `ended` is its id. */
  cancelAll(tokens: readonly string[], reason: string, expired: boolean, ended?: string): void {
    const at = this.#ports.clock.now();
    for (const token of tokens) {
      const others = ended === undefined ? [] : this.#candidatesWithout(token, ended);
      // A question that may be another call's stays.
      if (!expired && others.length > 0) continue;
      this.#send(token, { type: expired ? 'elicitation.expire' : 'elicitation.cancel', reason, at });
    }
  }

  #candidatesWithout(token: string, call: string): readonly CallRecord[] {
    const left = this.#candidates.get(token)?.filter(({ input }) => input.call !== call);
    if (left !== undefined) this.#candidates.set(token, left);
    return left ?? [];
  }

  #reply(asker: Extract<Asker, { kind: 'request' }>, elicitation: PendingElicitation, settlement: Settlement): void {
    const id = requestId(asker.connection, asker.id);
    const open = this.#requests.get(id);
    if (open === undefined) return;
    this.#requests.delete(id);
    this.#ofConnection.get(asker.connection)?.delete(open.token);
    const record = elicitation.call === undefined ? undefined : this.#ports.calls.record(elicitation.call);
    if (record !== undefined) record.questions -= 1;
    if (settlement.reason === 'withdrawn') return;
    if (elicitation.kind === 'sampling' && settlement.outcome !== 'accepted')
      open.answer({
        error: { code: -1, message: `Sampling was not approved: ${settlement.reason ?? settlement.outcome}` },
      });
    else open.answer({ result: replyOf(elicitation.kind, settlement) });
  }

  #put(
    connection: LiveConnection,
    question: Question,
    record: CallRecord | undefined,
    candidates: readonly CallRecord[],
  ): void {
    const { token } = question.elicitation;
    const at = this.#ports.clock.now();
    record?.ref?.send({ type: 'call.asked', question, at });
    if (this.#ports.system().get(token) !== undefined) return;
    if (candidates.length > 0) this.#candidates.set(token, candidates);
    this.#send(connection.id, { type: 'connection.asked', question });
    for (const candidate of candidates) candidate.ref?.send({ type: 'call.questionOpened', token, at });
  }

  #question(server: string, method: string, params: JsonObject, placed: Placed, asker: Asker): Question | string {
    const read = readQuestion(server, method, params);
    if (typeof read === 'string') return read;
    // What is handed out must not be a way to change what an answer is held to.
    return { elicitation: frozenCopy({ ...this.#base(server, placed), ...read }), asker };
  }

  #base(
    server: string,
    { generation, attribution, input, candidates }: Placed,
  ): Omit<PendingElicitation, 'kind' | 'message'> {
    const now = this.#ports.clock.now();
    const { unattendedMs } = policyFor(this.#ports.authority().policy, server);
    return {
      token: `elc_${this.#ports.randomToken()}`,
      server,
      attribution,
      ...(input?.step === undefined ? {} : { step: input.step }),
      ...(input === undefined ? {} : { call: input.call }),
      ...(input?.request === undefined ? {} : { request: input.request }),
      ...(candidates === undefined ? {} : { candidates }),
      generation,
      openedAt: isoTime(now),
      ...(unattendedMs === undefined ? {} : { expiresAt: isoTime(now + unattendedMs) }),
    };
  }

  #refuse(server: string, reason: string): void {
    this.#ports.facts.warn(
      'elicitation_refused',
      `A question of server "${server}" was declined without being shown: ${reason}`,
      server,
    );
  }

  #send(systemId: string, event: AnyEventObject): void {
    const target: AnyActorRef | undefined = this.#ports.system().get(systemId);
    if (target?.getSnapshot().status === 'active') target.send(event);
  }
}

const onlyOnce = ['once'] as const;

/** An answer in a task says of which, as its question did (SPEC ER-3). */
function withTask({ params }: ServerQuestion, answer: (reply: QuestionReply) => void): typeof answer {
  const taskId = relatedTaskOf(params);
  if (taskId === undefined) return answer;
  return (reply) => {
    if ('error' in reply) answer(reply);
    else answer({ result: { ...reply.result, _meta: { ...metaOf(reply.result), [relatedTaskKey]: { taskId } } } });
  };
}

function metaOf({ _meta }: JsonObject): JsonObject {
  return isJsonObject(_meta) ? _meta : {};
}

function requestId(connection: string, id: string | number): string {
  return `${connection} ${typeof id} ${String(id)}`;
}

function setOf(map: Map<string, Set<string>>, key: string): Set<string> {
  let set = map.get(key);
  if (set === undefined) map.set(key, (set = new Set()));
  return set;
}
