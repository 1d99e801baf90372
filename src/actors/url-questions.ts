/** Url questions: which is open under which id of its server (SPEC EL-5), and why some are never put. */
import type { Failure } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Settlement } from '../domain/question.ts';

/** The open url questions by the ids their servers will finish them under. */
export class UrlQuestions {
  readonly #tokens = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  readonly #watchers = new Map<string, (settlement: Settlement) => void>();

  note(connection: string, { elicitationId }: JsonObject, token: string): void {
    if (typeof elicitationId !== 'string') return;
    const id = idOf(connection, elicitationId);
    this.#tokens.set(id, token);
    this.#ids.set(token, id);
  }

  tokenOf(connection: string, elicitationId: string): string | undefined {
    return this.#tokens.get(idOf(connection, elicitationId));
  }

  /** Calls back when the question has ended, before its asker hears. */
  watch(token: string, told: (settlement: Settlement) => void): void {
    this.#watchers.set(token, told);
  }

  settled(settlement: Settlement): void {
    const { token } = settlement;
    this.#watchers.get(token)?.(settlement);
    this.#watchers.delete(token);
    const id = this.#ids.get(token);
    if (id === undefined) return;
    this.#ids.delete(token);
    if (this.#tokens.get(id) === token) this.#tokens.delete(id);
  }
}

/** A sign-in is wanted, and the refusal lists nothing a person could open. */
export function nothingToOpen(server: string, name: string): Failure {
  const message = `Server "${server}" wants a sign-in before "${name}", and listed nothing to open. Sign in at the server, then call again.`;
  return { code: 'auth_required', message, retryable: false, outcome: 'failed' };
}

/** A sign-in is wanted at a url that is not put to the person. */
export function refusedSignIn(server: string, name: string, why: string): Failure {
  const message = `Server "${server}" wants a sign-in before "${name}", at a url that is not shown: ${why} The call did not run.`;
  return { code: 'authorization_declined', message, retryable: false, outcome: 'not-sent' };
}

function idOf(connection: string, elicitationId: string): string {
  return `${connection} ${elicitationId}`;
}
