/**
 * The open questions of a thread, and the person's answers to them.
 *
 * One question is put at a time; a question that is settled elsewhere is taken away from the screen.
 */
import { setMaxListeners } from 'node:events';
import type { Subscription } from 'rxjs';
import type { ElicitationAnswer, PendingElicitation, RespondOutcome, Thread } from '../../index.ts';
import type { Terminal } from '../terminal.ts';
import { plain } from '../terminal.ts';
import { askPerson, type FormOptions } from './form.ts';

/** How putting a question ended. */
export type AskOutcome = 'answered' | 'later' | 'interrupted' | 'gone';

/** How a question is put. */
export interface AskOptions {
  readonly say: (text: string) => void;
  /** Whether it may be left open. */
  readonly canDefer: boolean;
}

/** Keeps the open questions and puts them. */
export class Questions {
  readonly #thread: Thread;
  readonly #terminal: Terminal;
  readonly #subscription: Subscription;
  readonly #listeners = new Set<() => void>();

  constructor(thread: Thread, terminal: Terminal) {
    this.#thread = thread;
    this.#terminal = terminal;
    this.#subscription = thread.elicitations$.subscribe(() => {
      for (const listener of this.#listeners) listener();
    });
  }

  /** The open questions, oldest first. */
  get open(): readonly PendingElicitation[] {
    // Not what the stream last told: that comes once a turn.
    return this.#thread.snapshot().elicitations;
  }

  /** Calls back on every change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Finds a question by its number in the list, its token, or the start of its token. */
  find(text: string): PendingElicitation | undefined {
    if (text === '') return this.open[0];
    const number = Number(text);
    if (Number.isInteger(number)) return this.open[number - 1];
    const matches = this.open.filter((elicitation) => elicitation.token.startsWith(text));
    return matches.length === 1 ? matches[0] : undefined;
  }

  /** Puts one question, again while the answer does not fit, and gives the answer. */
  async ask(elicitation: PendingElicitation, { say, canDefer }: AskOptions): Promise<AskOutcome> {
    const controller = new AbortController();
    // Every field of a form listens, one after the other.
    setMaxListeners(0, controller.signal);
    const stop = this.onChange(() => {
      if (!this.#isOpen(elicitation)) controller.abort();
    });
    try {
      let before: FormOptions['before'];
      for (;;) {
        if (!this.#isOpen(elicitation)) return gone(say);
        const result = await askPerson(elicitation, {
          terminal: this.#terminal,
          signal: controller.signal,
          canDefer,
          ...(before === undefined ? {} : { before }),
        });
        // The signal takes the form away as an interrupt would.
        if (controller.signal.aborted) return gone(say);
        // Escape puts a question aside; where there is no later, it is put again.
        if (result.kind === 'escaped' && !canDefer) continue;
        if (result.kind === 'escaped') return 'later';
        if (result.kind !== 'answer') return result.kind;
        const outcome = await this.respond(elicitation.token, result.answer);
        if (outcome.status === 'invalid' && result.answer.action === 'accept') {
          before = { issues: outcome.issues, content: result.answer.content ?? {} };
          continue;
        }
        say(describeOutcome(outcome));
        return 'answered';
      }
    } finally {
      stop();
    }
  }

  /** Gives an answer. */
  async respond(token: string, answer: ElicitationAnswer): Promise<RespondOutcome> {
    return this.#thread.respond(token, answer);
  }

  /** Lets go of the thread. */
  dispose(): void {
    this.#subscription.unsubscribe();
    this.#listeners.clear();
  }

  #isOpen(elicitation: PendingElicitation): boolean {
    return this.open.some((open) => open.token === elicitation.token);
  }
}

function gone(say: (text: string) => void): AskOutcome {
  say('The question is no longer open.');
  return 'gone';
}

/** What became of an answer, in words. */
export function describeOutcome(outcome: RespondOutcome): string {
  switch (outcome.status) {
    case 'delivered':
      return 'Answer delivered.';
    case 'invalid':
      return `The answer does not fit: ${outcome.issues.map((issue) => `${issue.path} ${plain(issue.message)}`.trim()).join('; ')}. The question stays open.`;
    case 'settled':
      return `The question was already ${outcome.outcome}, at ${outcome.at}.`;
    case 'expired':
    case 'lost':
      return `The question is ${outcome.status}: ${plain(outcome.reason).replace(/\.$/, '')}.`;
    case 'unknown':
      return 'No question has this token.';
  }
}
