/**
 * The sign-ins of one thread: a call, or a caller of `authorize`, that a person has to sign in for.
 *
 * Owns who waits for which sign-in. The question is put through the router like any other; what the browser brings back
 * accepts it. Each one that waits has a question of its own, so that each can be declined alone.
 *
 * - G1 Every question put here is settled: accepted when the sign-in is done, else with what waits for it (H5).
 * - G2 A call that was refused did not run: it is sent again once the sign-in is done.
 */
import type { AnyEventObject } from 'xstate';
import type { Clock } from '../api.ts';
import type { CallbackResult, SignIn, SignInRequest } from '../domain/authorization.ts';
import { HoldfastError, toError, toFailure } from '../domain/errors.ts';
import type { Failure } from '../domain/errors.ts';
import type { Question, Settlement } from '../domain/question.ts';
import type { CallRecord } from './call-record.ts';
import type { Placed } from './place-question.ts';
import type { Questions } from './questions.ts';
import type { LiveConnection, Servers } from './servers.ts';

export interface SignInsPorts {
  readonly clock: Clock;
  readonly servers: Servers;
  questions(): Pick<Questions, 'signIn' | 'whenSettled'>;
  /** Whether a call is still open. */
  isOpen(record: CallRecord): boolean;
  readonly send: (id: string, event: AnyEventObject) => void;
  redact(failure: Failure): Failure;
}

/** Somebody who waits for a sign-in. */
interface Waiter {
  readonly connection: LiveConnection;
  readonly token: string;
  leave(): void;
}

export class SignIns {
  readonly #ports: SignInsPorts;
  readonly #waiters = new Map<string, Waiter>();

  constructor(ports: SignInsPorts) {
    this.#ports = ports;
  }

  /** Takes a call over whose server wants a sign-in; false when nobody could sign in to it. */
  wanted(record: CallRecord): boolean {
    const { connection } = record;
    if (connection?.authorizer?.canSignIn !== true) return false;
    record.wasSent = false;
    void this.#forCall(record, connection);
    return true;
  }

  /** A call that was sent away to be signed in for goes on when that is done; false when nothing is waited for. */
  awaits(record: CallRecord, goOn: () => void): boolean {
    const { signIn } = record;
    if (signIn === undefined) return false;
    record.signIn = undefined;
    const leave = signIn.join();
    record.withdraw = leave;
    const settled = (how: () => void) => (): void => {
      if (record.withdraw !== leave) return;
      record.withdraw = undefined;
      if (this.#ports.isOpen(record)) how();
    };
    signIn.done.then(settled(goOn), (error: unknown) => {
      settled(() => {
        this.#fail(record, error);
      })();
    });
    return true;
  }

  /** Signs in to a server on behalf of nobody in particular. Resolves when it is done, or was not needed. */
  async authorize(connection: LiveConnection, request: SignInRequest, signal: AbortSignal | undefined): Promise<void> {
    const { authorizer } = connection;
    if (authorizer === undefined) throw notToBeSignedIn(connection);
    const signIn = await unlessAborted(authorizer.signIn(request), signal).catch((error: unknown) => {
      throw named(connection, error);
    });
    if (signIn !== undefined) await this.#put(connection, signIn, signal);
    this.#use(connection);
  }

  /** Somebody signed in to the server elsewhere: it is tried with that, if it waits. */
  goOn(connection: LiveConnection): void {
    if (connection.state === 'authRequired') this.#use(connection);
  }

  /** Takes the url a browser came back to. */
  async finish(callbackUrl: string): Promise<CallbackResult> {
    for (const { authorizer } of this.#ports.servers.connections) {
      const result = await authorizer?.finish(callbackUrl);
      if (result !== undefined && result.kind !== 'unknown') return result;
    }
    return { kind: 'unknown' };
  }

  /** A connection is let go of: nobody waits for it any more. */
  connectionGone(connection: LiveConnection, reason: string): void {
    for (const waiter of [...this.#waiters.values()])
      if (waiter.connection === connection)
        this.#ports.send(waiter.token, { type: 'elicitation.cancel', reason, at: this.#ports.clock.now() });
    connection.authorizer?.close();
  }

  async #forCall(record: CallRecord, connection: LiveConnection): Promise<void> {
    try {
      const signIn = await connection.authorizer?.signIn();
      if (!this.#ports.isOpen(record)) return;
      if (signIn === undefined) {
        this.#use(connection);
        const failure = this.#failureOf(
          connection,
          new HoldfastError('auth_required', 'Expected to be let in with the kept credentials, and was not.'),
        );
        record.ref?.send({ type: 'call.resend', outcome: 'not-sent', failure });
        return;
      }
      const { generation } = record.input;
      const question = this.#question(connection, signIn, { attribution: 'call', generation, input: record.input });
      const leave = this.#follow(connection, signIn, question);
      this.#ports.questions().whenSettled(question.elicitation.token, ({ outcome }) => {
        // Accepted by the person, who may still be about it: the call goes on when the sign-in is done.
        if (outcome === 'accepted') record.signIn = signIn;
        queueMicrotask(leave);
      });
      signIn.done.catch((error: unknown) => {
        // Before its question, which would say no more than that it ended.
        const isWaiting = record.signIn === undefined && this.#waiters.has(question.elicitation.token);
        if (isWaiting && this.#ports.isOpen(record)) this.#fail(record, error);
      });
      const at = this.#ports.clock.now();
      record.ref?.send({ type: 'call.authorizationRequired', questions: [question], at, outcome: 'not-sent' });
    } catch (error) {
      if (this.#ports.isOpen(record)) this.#fail(record, error);
    }
  }

  async #put(connection: LiveConnection, signIn: SignIn, signal: AbortSignal | undefined): Promise<void> {
    const generation = connection.generations.size === 0 ? 0 : Math.min(...connection.generations);
    const question = this.#question(connection, signIn, { attribution: 'server', generation });
    const { token } = question.elicitation;
    const leave = this.#follow(connection, signIn, question);
    const stay = signIn.join();
    const settled = new Promise<Settlement>((resolve) => {
      this.#ports.questions().whenSettled(token, resolve);
    });
    const onAbort = (): void => {
      this.#ports.send(token, {
        type: 'elicitation.cancel',
        reason: 'its caller aborted it',
        at: this.#ports.clock.now(),
      });
      stay();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      this.#ports.send(connection.id, { type: 'connection.asked', question });
      const end = await Promise.race([signIn.done.then(() => undefined), settled]);
      if (end === undefined) return;
      if (end.outcome !== 'accepted') throw notSignedIn(connection, end);
      await signIn.done;
    } catch (error) {
      throw named(connection, error);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      leave();
      stay();
    }
  }

  #question(connection: LiveConnection, { url }: SignIn, placed: Placed): Question {
    const message = `Sign in to use the server "${connection.server}".`;
    const question = this.#ports.questions().signIn(connection.server, { mode: 'url', message, url }, placed);
    if (typeof question !== 'string') return question;
    throw new HoldfastError('protocol_error', `Expected a url a person can be sent to, got another: ${question}`);
  }

  /** Waits for a sign-in with a question: done accepts it, failed ends it. */
  #follow(connection: LiveConnection, signIn: SignIn, { elicitation: { token } }: Question): () => void {
    const { clock, send } = this.#ports;
    const leave = signIn.join();
    const forget = (): void => {
      this.#waiters.delete(token);
      leave();
    };
    this.#waiters.set(token, { connection, token, leave: forget });
    signIn.done.then(
      () => {
        this.#use(connection);
        send(token, { type: 'elicitation.answer', answer: { action: 'accept' }, at: clock.now(), ticket: 0 });
      },
      (error: unknown) => {
        // After whoever waits has heard why.
        queueMicrotask(() => {
          send(token, { type: 'elicitation.expire', reason: toFailure(error).message, at: clock.now() });
        });
      },
    );
    return forget;
  }

  /** New credentials: what waits for them is tried again, and what is there is listed anew. */
  #use(connection: LiveConnection): void {
    if (connection.state === 'authRequired' || connection.state === 'failed')
      this.#ports.send(connection.id, { type: 'connection.retry', at: this.#ports.clock.now() });
    else connection.relist?.();
  }

  #fail(record: CallRecord, error: unknown): void {
    const { connection } = record;
    const failure = connection === undefined ? toFailure(error) : this.#failureOf(connection, error);
    record.ref?.send({ type: 'call.failed', outcome: 'not-sent', failure });
  }

  #failureOf(connection: LiveConnection, error: unknown): Failure {
    return { ...this.#ports.redact(toFailure(named(connection, error))), outcome: 'not-sent' };
  }
}

/** Waits for a sign-in to begin as long as its caller does; one that begins later is given up, unless others wait for it. */
async function unlessAborted(
  beginning: Promise<SignIn | undefined>,
  signal: AbortSignal | undefined,
): Promise<SignIn | undefined> {
  if (signal === undefined) return beginning;
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => {
      reject(new HoldfastError('aborted', 'The sign-in was aborted.'));
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([beginning, aborted]);
  } catch (error) {
    beginning.then((late) => {
      const leave = late?.join();
      // After whoever else waits for it has joined.
      if (leave !== undefined) setImmediate(leave);
    }, nothing);
    throw error;
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

function nothing(): void {
  // Nobody waits for how it ended.
}

function named({ server }: LiveConnection, error: unknown): HoldfastError {
  const failure = toFailure(error);
  const prefix = `Server "${server}": `;
  return toError(failure.message.startsWith(prefix) ? failure : { ...failure, message: prefix + failure.message });
}

function notSignedIn({ server }: LiveConnection, { outcome, reason }: Settlement): HoldfastError {
  return new HoldfastError(
    outcome === 'declined' ? 'authorization_declined' : 'auth_required',
    `Server "${server}": expected somebody to sign in, and the question was ${outcome}${reason === undefined ? '' : `: ${reason}`}.`,
  );
}

function notToBeSignedIn({ server }: LiveConnection): HoldfastError {
  return new HoldfastError(
    'unsupported',
    `Expected server "${server}" to be one that is signed in to: reached over HTTP, and without a token in its configuration. It is not.`,
  );
}
