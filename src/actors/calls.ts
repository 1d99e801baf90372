/**
 * The effects of calls: sending, cancelling, timing, and answering whoever called.
 *
 * Owns one record a call in flight: what must not be in a context. A call's actor decides; this does.
 *
 * - K1 A record is made with its call and dropped when the call is settled: nothing of a call outlives it.
 * - K2 The caller is answered exactly once.
 */
import type { Clock } from '../api.ts';
import { abortReason } from '../domain/abort-reason.ts';
import { toError, toFailure } from '../domain/errors.ts';
import type { Failure } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Link, RequestFailure, RequestKey } from '../domain/link.ts';
import { frozenCopy } from '../domain/frozen.ts';
import type { Redactor } from '../domain/redact.ts';
import type { TaskEnd, TaskStyle } from '../domain/task.ts';
import type { Progress } from '../domain/tool.ts';
import type { OutputRule } from '../mcp/tool-view.ts';
import type { CallContext, CallInput } from '../machines/call-context.ts';
import type { Facts } from './facts.ts';
import { failureOutcome, foundNothing, reconnectLimitMs, unavailable } from './call-failures.ts';
import { paramsOf, takesTask } from './call-params.ts';
import { newRecord } from './call-record.ts';
import type { CallRecord, CallSender, CallTask, NewCall } from './call-record.ts';
import { callInputOf } from './call-request.ts';
import { tellEnd, tellProgress, tellStage } from './call-facts.ts';
import type { CallStage } from './call-facts.ts';
import { armPauseLimit, armTimeLimit, disarm, leftMs } from './call-times.ts';
import { InFlight } from './in-flight.ts';
import type { OutputChecks } from './output-checks.ts';
import { prepareCall } from './prepare-call.ts';
import { checkResult } from './results.ts';
import type { LiveConnection, Servers } from './servers.ts';
import { isUsable } from './servers.ts';
import type { Signals } from './signals.ts';
import { countEnd } from './connection-stats.ts';
import { Sink, WatchedSink } from './sinks.ts';
import type { Turns } from './turns.ts';
import { whenUsable } from './when-usable.ts';

export type { CallRecord, CallSender, NewCall } from './call-record.ts';

export interface CallsPorts {
  readonly clock: Clock;
  readonly facts: Facts;
  readonly redactor: Redactor;
  readonly servers: Servers;
  readonly turns: Turns;
  readonly signals: Signals;
  /** Reads a result that asks for input, and puts it to the call. */
  inputRequired(record: CallRecord, result: JsonObject): void;
  /** Reads a refusal that asks for a sign-in, and puts it to the call; gives the reason why it cannot. */
  authorizationRequired(record: CallRecord, data: unknown): Failure | undefined;
  /** Reads what a server says of the task it made of a call, and has it asked after. */
  becameTask(record: CallRecord, made: { readonly task: JsonObject; readonly style: TaskStyle }): void;
  /** Takes a failed result over, to read whether it asks for a sign-in; false when nobody reads them. */
  resultAsksToSignIn(record: CallRecord, result: JsonObject): boolean;
  /** Puts it to a person that a call needs them to sign in; false when nobody can. */
  wantsSignIn(record: CallRecord): boolean;
  /** Goes on when the sign-in a call waits for is done; false when it waits for none. */
  awaitsSignIn(record: CallRecord, goOn: () => void): boolean;
  /** The session of a connection is gone. */
  sessionLost(connection: LiveConnection): void;
}

export class Calls {
  readonly #ports: CallsPorts;
  readonly #records = new Map<string, CallRecord>();
  readonly #inFlight: InFlight;
  /** Loaded with the first tool that says what it returns. */
  #outputs: Promise<OutputChecks> | undefined;

  constructor(ports: CallsPorts) {
    this.#ports = ports;
    this.#inFlight = new InFlight(ports.clock);
  }

  /** Makes the actor of a call through `spawn`; resolves with its result. */
  start(call: NewCall, spawn: (input: CallInput) => void): Promise<JsonObject> {
    return new Promise<JsonObject>((resolve, reject) => {
      const { signal, turn } = call;
      const admitted = call.input.approval === undefined && this.#ports.turns.tryEnter(turn);
      // What waits is sent as it was asked for, whatever its caller does with the object meanwhile.
      const input = admitted ? call.input : { ...call.input, params: frozenCopy(call.input.params) };
      const record = newRecord(call, input, admitted, resolve, reject);
      this.#records.set(input.call, record);
      if (signal !== undefined)
        record.unlisten = this.#ports.signals.listen(signal, () => this.abort(input.call, abortReason(signal)));
      spawn(callInputOf(input, admitted, this.#ports.clock.now()));
    });
  }

  abort(call: string, reason: string): void {
    this.#records.get(call)?.ref?.send({ type: 'call.abort', reason, at: this.#ports.clock.now() });
  }

  record(call: string): CallRecord | undefined {
    return this.#records.get(call);
  }

  /** Calls with a request on the wire of a connection. */
  inFlight(connection: string): Iterable<CallRecord> {
    return this.#inFlight.of(connection);
  }

  /** Resolves when nothing is in flight on a link of a connection any more. */
  whenIdle(connection: LiveConnection, link: Link): Promise<void> {
    return this.#inFlight.whenIdle(connection.id, link);
  }

  /** Notes the actor of a call that has not been sent: it can be aborted. */
  noteActor(context: CallContext, self: CallSender): void {
    const record = this.#records.get(context.input.call);
    if (record !== undefined) record.ref = self;
  }

  requestTurn(context: CallContext, self: CallSender): void {
    const record = this.#records.get(context.input.call);
    if (record === undefined) return;
    record.ref = self;
    record.withdraw = this.#ports.turns.wait(record.turn, () => {
      record.withdraw = undefined;
      record.holdsTurn = true;
      self.send({ type: 'call.admitted', at: this.#ports.clock.now() });
    });
  }

  releaseTurn(context: CallContext): void {
    const record = this.#records.get(context.input.call);
    if (record === undefined || !record.holdsTurn || record.turn.exclusive) return;
    record.holdsTurn = false;
    this.#ports.turns.leave(record.turn);
  }

  resumeTurn(context: CallContext): void {
    const record = this.#records.get(context.input.call);
    if (record === undefined || record.holdsTurn) return;
    record.holdsTurn = true;
    this.#ports.turns.resume(record.turn);
  }

  sendRequest(context: CallContext, self: CallSender): void {
    const record = this.#records.get(context.input.call);
    if (record === undefined) return;
    record.ref = self;
    const { generation, server } = context.input;
    const connection = this.#ports.servers.resolve(generation, server)?.connection;
    if (connection === undefined) {
      this.#fail(record, unavailable(record, undefined));
      return;
    }
    record.connection = connection;
    if (this.#ports.awaitsSignIn(record, () => this.sendRequest(context, self))) return;
    if (connection.link !== undefined && isUsable(connection)) this.#send(record, context, connection, connection.link);
    else this.#sendWhenReady(record, context, connection);
  }

  cancelRequest(context: CallContext): void {
    const record = this.#records.get(context.input.call);
    if (record === undefined) return;
    record.withdraw?.();
    if (record.key !== undefined) record.link?.cancel(record.key);
    record.task?.cancel();
    this.#offWire(record);
  }

  /** A call stays in flight as the task its server made of it: its questions are its own, and it is not sent again. */
  becameTask(record: CallRecord, task: CallTask): void {
    record.task = task;
    if (record.connection !== undefined) this.#inFlight.add(record.connection.id, record);
  }

  /** Goes on hearing the progress of a request that became a task (2025-11-25: its token stays valid). */
  #follow(record: CallRecord, key: RequestKey | undefined): () => void {
    const isWatched = record.onProgress !== undefined || this.#ports.facts.observed;
    if (key === undefined || !isWatched) return nothing;
    const stop = record.link?.followProgress?.(key, (progress) => {
      this.onProgress(record, progress);
    });
    return stop ?? nothing;
  }

  /** The request that is about a task just now: what is asked on its stream is of the task's call. */
  ofTask(record: CallRecord, link: Link, key: RequestKey | undefined): void {
    record.link = link;
    record.key = key;
    if (key === undefined) this.#inFlight.wake();
  }

  /** A request found the session of its connection gone. */
  loseSession(connection: LiveConnection): void {
    this.#ports.sessionLost(connection);
  }

  /** A server tells of a task by itself. */
  hearTask(connection: string, task: JsonObject): void {
    for (const { task: own } of this.inFlight(connection)) if (own?.id === task['taskId']) own?.hear(task);
  }

  /** What a task brought is what its request would have brought. */
  finishTask({ input }: CallContext, end: TaskEnd): void {
    const record = this.#records.get(input.call);
    if (record === undefined) return;
    if (end.kind === 'result') this.onResult(record, end.result);
    else if (end.rpc?.code === urlElicitationRequired) this.onFailure(record, { failure: end.failure, rpc: end.rpc });
    else this.fail(record, end.failure);
  }

  armTimeLimit(context: CallContext, self: CallSender): void {
    const record = this.#records.get(context.input.call);
    if (record !== undefined) armTimeLimit(record, context, self, this.#ports.clock);
  }

  armPauseLimit(context: CallContext, self: CallSender): void {
    const record = this.#records.get(context.input.call);
    if (record !== undefined) armPauseLimit(record, context, self, this.#ports.clock);
  }

  disarmTimeLimit(context: CallContext): void {
    const record = this.#records.get(context.input.call);
    if (record !== undefined) disarm(record, this.#ports.clock);
  }

  announce(context: CallContext, type: CallStage): void {
    tellStage(this.#ports.facts, context.input, type);
  }

  settle(context: CallContext): void {
    const record = this.#records.get(context.input.call);
    if (record === undefined) return;
    const { clock, facts, redactor, turns } = this.#ports;
    this.#records.delete(context.input.call);
    record.withdraw?.();
    record.unlisten?.();
    disarm(record, clock);
    this.#offWire(record);
    if (record.holdsTurn) turns.leave(record.turn);
    const ending = context.ending ?? {
      outcome: 'failed',
      failure: { code: 'internal', message: 'The call ended without an outcome.', retryable: false },
    };
    countEnd(record.connection?.stats, context, ending, clock.now());
    if (ending.outcome === 'completed') {
      tellEnd(facts, context.input, 'completed', { isError: ending.result['isError'] === true });
      record.resolve(ending.result);
      return;
    }
    const failure = redactor.value(knownEnding(record, ending.failure));
    tellEnd(facts, context.input, ending.outcome, { error: failure });
    record.reject(toError(failure));
  }

  /** A result arrived for a record. */
  onResult(record: CallRecord, result: JsonObject): void {
    const { ref, key } = record;
    this.#offWire(record);
    if (ref === undefined) return;
    const checked = checkResult(record.input.method, record.input.server, result, record.sentAsTask);
    switch (checked.kind) {
      case 'complete':
        if (checked.result['isError'] === true && this.#ports.resultAsksToSignIn(record, checked.result)) return;
        if (record.output === undefined || checked.result['isError'] === true)
          ref.send({ type: 'call.completed', result: checked.result });
        else void this.#checkOutput(record, record.output, checked.result);
        return;
      case 'inputRequired':
        this.#ports.inputRequired(record, result);
        return;
      case 'task':
        this.becameTask(record, { ...loadingTask(checked.task), end: this.#follow(record, key) });
        this.#ports.becameTask(record, checked);
        return;
      case 'bad':
        this.#fail(record, checked.failure);
    }
  }

  async #checkOutput(record: CallRecord, output: OutputRule, result: JsonObject): Promise<void> {
    this.#outputs ??= import('./output-checks.ts').then(({ OutputChecks: Checks }) => new Checks(this.#ports.facts));
    const failure = await this.#outputs.then((checks) => checks.check(output, result)).catch(toFailure);
    if (this.#records.get(record.input.call) !== record) return;
    if (failure === undefined) record.ref?.send({ type: 'call.completed', result });
    else this.#fail(record, failure);
  }

  onFailure(record: CallRecord, { failure, rpc, status }: RequestFailure): void {
    const { connection } = record;
    this.#offWire(record);
    if (rpc?.code === urlElicitationRequired) {
      const refused = this.#ports.authorizationRequired(record, rpc.data);
      if (refused !== undefined) this.#fail(record, refused);
      return;
    }
    const known: Failure = { ...failure, outcome: failure.outcome ?? failureOutcome(failure.code) };
    if (connection !== undefined && foundNothing(failure, status, connection.link !== record.link)) {
      record.wasSent = false;
      // The first to find the session gone has it opened anew; the others find the new one.
      if (failure.code === 'session_lost' && connection.link === record.link) this.#ports.sessionLost(connection);
      record.ref?.send({ type: 'call.resend', outcome: 'not-sent', failure: { ...known, outcome: 'not-sent' } });
      return;
    }
    if (failure.code === 'connection_lost' && known.outcome === 'unknown' && record.repeatable) {
      // A link that is gone settles its requests before it says so: the call is sent again by who knows of that.
      queueMicrotask(() => {
        if (this.#records.get(record.input.call) === record)
          record.ref?.send({ type: 'call.resend', outcome: 'unknown', failure: known });
      });
      return;
    }
    if (failure.code === 'auth_required' && this.#ports.wantsSignIn(record)) return;
    this.#fail(record, known);
  }

  onProgress(record: CallRecord, progress: Progress): void {
    record.progress = progress;
    tellProgress(this.#ports.facts, record, progress);
  }

  #send(record: CallRecord, context: CallContext, connection: LiveConnection, link: Link): void {
    if (record.prepare !== undefined && record.prepared === undefined) {
      void this.#prepare(record, context, connection);
      return;
    }
    record.link = link;
    const watched = record.onProgress !== undefined || this.#ports.facts.observed;
    const sink = watched ? new WatchedSink(this, record) : new Sink(this, record);
    this.#inFlight.add(connection.id, record);
    record.wasSent = true;
    record.sentAsTask = takesTask(context.input, link);
    record.key = link.send({ method: context.input.method, params: paramsOf(context, link, record.prepared) }, sink);
  }

  /** Ends with the call, if that ends first. */
  async #prepare(record: CallRecord, context: CallContext, connection: LiveConnection): Promise<void> {
    const prepared = await prepareCall(record, context.input.params);
    if (prepared === 'stopped') return;
    if (prepared !== 'ready') this.#fail(record, prepared);
    else if (connection.link !== undefined && isUsable(connection))
      this.#send(record, context, connection, connection.link);
    else this.#sendWhenReady(record, context, connection);
  }

  /** A call that meets a server on its way up waits, within its limit, at most 10 s (RT-7). Armed before that limit. */
  #sendWhenReady(record: CallRecord, context: CallContext, connection: LiveConnection): void {
    record.withdraw = whenUsable(connection, {
      clock: this.#ports.clock,
      limitMs: Math.min(reconnectLimitMs, Math.max(0, leftMs(context, this.#ports.clock) - unavailableFirstMs)),
      usable: (link) => {
        record.withdraw = undefined;
        this.#send(record, context, connection, link);
      },
      gone: () => {
        record.withdraw = undefined;
        if (connection.state === 'authRequired' && this.#ports.wantsSignIn(record)) return;
        this.#fail(record, unavailable(record, connection));
      },
    });
  }

  #offWire(record: CallRecord): void {
    if (record.key === undefined && record.task === undefined) return;
    record.key = undefined;
    record.task?.end();
    record.task = undefined;
    if (record.connection !== undefined) this.#inFlight.delete(record.connection.id, record);
  }

  /** The call ends with a failure. */
  fail(record: CallRecord, failure: Failure): void {
    this.#offWire(record);
    this.#fail(record, failure);
  }

  #fail(record: CallRecord, failure: Failure): void {
    const outcome = failure.outcome ?? failureOutcome(failure.code);
    record.ref?.send({ type: 'call.failed', outcome, failure: { ...failure, outcome } });
  }
}

/** A call whose server is not there says so, rather than that its time is over: it gives up the wait that much before. */
const unavailableFirstMs = 5;

/** JSON-RPC error code URLElicitationRequired. */
const urlElicitationRequired = -32042;

/** Stands for a task while what asks after it is loaded. */
function loadingTask({ taskId }: JsonObject): CallTask {
  return { id: typeof taskId === 'string' ? taskId : '', hear: nothing, cancel: nothing, end: nothing };
}

function nothing(): void {}

/** What ended before it was sent did not run, whatever ended it. */
function knownEnding({ wasSent }: CallRecord, failure: Failure): Failure {
  return failure.outcome === 'unknown' && !wasSent ? { ...failure, outcome: 'not-sent' } : failure;
}
