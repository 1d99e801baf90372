/**
 * One thread behind JSON lines (SPEC CL-2): requests in, replies and facts out.
 *
 * Owns the open requests and the steps that were begun. Receives lines, sends records through a `LineWriter`.
 *
 * S1 Every request is answered exactly once, under its id as it came.
 * S2 A fact is written in the turn in which the thread tells it, so before the reply that depends on it.
 * S3 An aborted request is answered before the abort; every open request before `close`; `thread.closed` before that too.
 * S4 Nothing a line holds throws out of {@link Session.receive}.
 */
import type { Subscription } from 'rxjs';
import { HoldfastError, type Step, type Thread } from '../../index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import { errorRecord } from './error-record.ts';
import { deferred } from '../values.ts';
import type { InputLine } from './line-reader.ts';
import type { LineWriter } from './line-writer.ts';
import { parseLine } from './protocol.ts';
import { ReplaceQueue } from './replace-queue.ts';
import type { OpenRequest, RequestContext, SessionWarning } from './request-context.ts';
import type { RequestId } from './request-id.ts';
import { handlers } from './requests.ts';

/** What a session needs. */
export interface SessionOptions {
  readonly thread: Thread;
  readonly writer: LineWriter;
  /** Reads the `files` of a `replace`. */
  readonly readFiles: (files: readonly string[]) => Promise<ResolvedConfig>;
}

/** How many ended steps are remembered, so that ending one again is no error. */
const endedStepsKept = 100_000;

interface Entry extends OpenRequest {
  readonly controller: AbortController;
  /** Resolves, with whether it was answered as aborted, once the reply is written. */
  readonly answered: Promise<boolean>;
  readonly settle: (wasAborted: boolean) => void;
}

/** Serves one thread. */
export class Session implements RequestContext {
  readonly thread: Thread;
  readonly readFiles: SessionOptions['readFiles'];
  readonly replacements: ReplaceQueue;
  readonly #done = deferred<undefined>();
  readonly #writer: LineWriter;
  readonly #facts: Subscription;
  readonly #open = new Map<string, Entry>();
  readonly #steps = new Map<string, Step>();
  readonly #ended = new Set<string>();
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.thread = options.thread;
    this.readFiles = options.readFiles;
    this.replacements = new ReplaceQueue(options.thread);
    this.#writer = options.writer;
    this.#facts = options.thread.events$.subscribe((event) => {
      if (event.type === 'step.ended') this.#forget(event.step);
      this.#writer.event(event);
    });
  }

  /** Resolves when a `close` was answered, or the thread was closed otherwise. */
  get finished(): Promise<void> {
    return this.#done.promise;
  }

  /** Takes one line. */
  receive(input: InputLine): void {
    if (this.#isClosed) return;
    const parsed = parseLine(input);
    if (parsed.kind === 'refused') {
      this.#refuse(parsed.id, parsed.error);
      return;
    }
    const { id, name, line } = parsed;
    if (this.#open.has(id.json)) {
      this.#refuse(
        id,
        new HoldfastError(
          'invalid_request',
          'Expected an id that no open request has, got one that is still open. Use another id.',
        ),
      );
      return;
    }
    const handler = handlers.get(name);
    if (handler === undefined) {
      this.#refuse(
        id,
        new HoldfastError(
          'unknown_request',
          `Expected "do" to be one of ${[...handlers.keys()].join(', ')}, got "${name.slice(0, 100)}".`,
        ),
      );
      return;
    }
    const entry = this.#admit(id, name);
    void this.#run(entry, async () => handler(line, this, entry));
  }

  /** Tells something about the configuration as a `warning`. */
  warn(warning: SessionWarning): void {
    const { code, message, server } = warning;
    this.#writer.event({
      type: 'warning',
      at: new Date().toISOString(),
      code,
      message,
      ...(server === undefined ? {} : { server }),
    });
  }

  /** Closes the thread and answers what is open. Resolves when that is done; the replies to `close` come after. */
  async close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    await this.#closing;
  }

  /** Remembers a step that was begun. */
  keep(step: Step): void {
    this.#steps.set(step.id, step);
  }

  /**
   * The step of a request.
   *
   * @throws HoldfastError `step_ended`, `unknown_step`
   */
  step(id: string): Step {
    const step = this.#steps.get(id);
    if (step !== undefined) return step;
    if (this.#ended.has(id))
      throw new HoldfastError(
        'step_ended',
        `Expected an open step, got "${id}", which has ended. Begin another step.`,
        { outcome: 'not-sent' },
      );
    throw new HoldfastError(
      'unknown_step',
      `Expected the id of a step of this thread, got "${id.slice(0, 100)}". Use the "step" of a beginStep reply.`,
      { outcome: 'not-sent' },
    );
  }

  /** Ends a step and waits until its requests are answered. Ending it again is no error. */
  async endStep(id: string): Promise<void> {
    if (!this.#steps.has(id) && this.#ended.has(id)) return;
    const step = this.step(id);
    const ofStep = [...this.#open.values()].filter((entry) => entry.step === id);
    this.#forget(id);
    await step.end();
    await Promise.all(ofStep.map(async (entry) => entry.answered));
  }

  /** Aborts an open request and waits for its answer. Tells whether it was answered as aborted. */
  async abort(target: RequestId, by: RequestId): Promise<boolean> {
    const entry = this.#open.get(target.json);
    if (entry === undefined || unabortable.has(entry.name)) return false;
    const reason = `request ${by.json} asked for it`;
    entry.controller.abort(reason);
    // What takes no signal goes on by itself; its answer does not wait for it.
    if (deaf.has(entry.name))
      this.#answerError(
        entry,
        new HoldfastError('aborted', `Request "${entry.name}" was aborted: ${reason}. What it began goes on.`),
      );
    return entry.answered;
  }

  #admit(id: RequestId, name: string): Entry {
    const { promise: answered, resolve: settle } = deferred<boolean>();
    const controller = new AbortController();
    const entry: Entry = { id, name, controller, signal: controller.signal, step: undefined, answered, settle };
    this.#open.set(id.json, entry);
    return entry;
  }

  async #run(entry: Entry, work: () => Promise<unknown>): Promise<void> {
    try {
      const result = await work();
      this.#answer(entry, result);
    } catch (error) {
      this.#answerError(entry, error);
    }
    if (entry.name === 'close' && !this.#isAwaitingClose()) this.#done.resolve(undefined);
  }

  #answer(entry: Entry, result: unknown): void {
    if (this.#open.get(entry.id.json) !== entry) return;
    let json: string;
    try {
      json = JSON.stringify(result);
    } catch (error) {
      this.#answerError(
        entry,
        new HoldfastError('internal', 'Expected a result that JSON can carry, got one that is nested too deeply.', {
          cause: error,
        }),
      );
      return;
    }
    this.#open.delete(entry.id.json);
    this.#writer.write(`{"id":${entry.id.json},"ok":true,"result":${json}}`);
    entry.settle(false);
  }

  #answerError(entry: Entry, error: unknown): void {
    if (this.#open.get(entry.id.json) !== entry) return;
    this.#open.delete(entry.id.json);
    const { outcome, ...rest } = errorRecord(error);
    const record = outcome === undefined || !sent.has(entry.name) ? rest : { ...rest, outcome };
    this.#writer.write(`{"id":${entry.id.json},"ok":false,"error":${JSON.stringify(record)}}`);
    entry.settle(record.code === 'aborted');
  }

  #refuse(id: RequestId | undefined, error: HoldfastError): void {
    this.#writer.write(`{"id":${id?.json ?? 'null'},"ok":false,"error":${JSON.stringify(errorRecord(error))}}`);
  }

  #forget(id: string): void {
    if (!this.#steps.delete(id)) return;
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > endedStepsKept && oldest !== undefined) this.#ended.delete(oldest);
  }

  async #close(reason: string): Promise<void> {
    try {
      await this.thread.close({ reason });
    } catch (error) {
      this.warn({ code: 'close_failed', message: errorRecord(error).message });
    }
    await this.#settleRest();
    this.#facts.unsubscribe();
    this.#isClosed = true;
    // Without a `close` request nobody else says that it is over.
    if (!this.#isAwaitingClose()) this.#done.resolve(undefined);
  }

  #isAwaitingClose(): boolean {
    return [...this.#open.values()].some((entry) => entry.name === 'close');
  }

  /** Lets what the close ended be answered in its own words; what did not hear of it is answered here. */
  async #settleRest(): Promise<void> {
    const rest = () => [...this.#open.values()].filter((entry) => entry.name !== 'close');
    await new Promise((resolve) => setImmediate(resolve));
    for (const entry of rest())
      this.#answerError(
        entry,
        new HoldfastError(
          'thread_closed',
          `Request "${entry.name}" ended with its thread, which was closed.`,
          entry.step === undefined ? {} : { outcome: 'unknown' },
        ),
      );
  }
}

/** Requests an `abort` does not reach (SPEC CL-2), and `abort` itself. */
const unabortable: ReadonlySet<string> = new Set(['respond', 'snapshot', 'close', 'abort']);

/** Requests whose work takes no signal. */
const deaf: ReadonlySet<string> = new Set(['endStep', 'restartServer', 'setRoots', 'finishAuthorization']);

/** Requests that go to a server: their errors say in `outcome` whether they reached it. */
const sent: ReadonlySet<string> = new Set([
  'callTool',
  'listTools',
  'listResources',
  'listResourceTemplates',
  'readResource',
  'listPrompts',
  'getPrompt',
  'complete',
]);
