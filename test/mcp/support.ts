/** Opens links for tests and records what they tell. */
import type { ServerConfig } from '../../src/domain/config.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type {
  Link,
  LinkHandlers,
  OpenLinkOptions,
  QuestionReply,
  RequestFailure,
  ServerQuestion,
} from '../../src/domain/link.ts';
import type { Progress } from '../../src/domain/tool.ts';
import { LiveLink } from '../../src/mcp/link.ts';
import { openLink } from '../../src/mcp/open-link.ts';

export interface Fact {
  readonly kind: keyof LinkHandlers;
  readonly args: readonly unknown[];
}

/** Records what the handlers of a link are told, and lets tests wait for it. */
export class Told {
  readonly facts: Fact[] = [];
  readonly questions: ServerQuestion[] = [];
  readonly answers: ((reply: QuestionReply) => void)[] = [];
  readonly handlers: LinkHandlers;
  readonly #waiters = new Set<() => void>();

  constructor() {
    const note =
      (kind: keyof LinkHandlers) =>
      (...args: unknown[]): void => {
        this.facts.push({ kind, args });
        for (const wake of this.#waiters) wake();
      };
    this.handlers = {
      onQuestion: (question, answer) => {
        this.questions.push(question);
        if (answer !== undefined) this.answers.push(answer);
        note('onQuestion')(question);
      },
      onQuestionWithdrawn: note('onQuestionWithdrawn'),
      onListChanged: note('onListChanged'),
      onResourceUpdated: note('onResourceUpdated'),
      onLog: note('onLog'),
      onWarning: note('onWarning'),
      onElicitationComplete: note('onElicitationComplete'),
      onVerdict: note('onVerdict'),
      onClosed: note('onClosed'),
    };
  }

  of(kind: keyof LinkHandlers): readonly (readonly unknown[])[] {
    return this.facts.filter((fact) => fact.kind === kind).map((fact) => fact.args);
  }

  warnings(code: string): readonly string[] {
    return this.of('onWarning')
      .filter(([said]) => said === code)
      .map(([, message]) => String(message));
  }

  /** Resolves when `kind` was told `count` times, with the arguments of the last. */
  until(kind: keyof LinkHandlers, count = 1): Promise<readonly unknown[]> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.of(kind)[count - 1];
        if (found === undefined) return;
        this.#waiters.delete(look);
        resolve(found);
      };
      this.#waiters.add(look);
      look();
    });
  }
}

export interface Opened extends AsyncDisposable {
  readonly link: LiveLink;
  readonly told: Told;
}

export type OpenSettings = Partial<Omit<OpenLinkOptions, 'config' | 'handlers'>> & { readonly told?: Told };

/** Opens a link and closes it when the scope ends. */
export async function open(
  config: ServerConfig,
  { told = new Told(), ...settings }: OpenSettings = {},
): Promise<Opened> {
  const link = await openLink({
    server: 'docs',
    config,
    offer: { sampling: false, roots: false },
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    handlers: told.handlers,
    ...settings,
  });
  if (!(link instanceof LiveLink)) throw new Error('Expected a LiveLink.');
  return { link, told, [Symbol.asyncDispose]: () => link.close() };
}

export interface Sent {
  readonly key: string;
  /** Rejects with the {@link RequestFailure}, as an `Error` that carries it. */
  readonly result: Promise<JsonObject>;
  readonly progress: Progress[];
}

export class SinkError extends Error {
  readonly failed: RequestFailure;

  constructor(failed: RequestFailure) {
    super(failed.failure.message);
    this.failed = failed;
  }
}

export interface SendSettings {
  readonly progress?: boolean;
}

export function send(
  link: Link,
  method: string,
  params: JsonObject = {},
  { progress = false }: SendSettings = {},
): Sent {
  const seen: Progress[] = [];
  let key = '';
  const result = new Promise<JsonObject>((resolve, reject) => {
    key = link.send(
      { method, params },
      {
        onResult: resolve,
        onFailure: (failed) => {
          reject(new SinkError(failed));
        },
        ...(progress ? { onProgress: (step: Progress) => void seen.push(step) } : {}),
      },
    );
  });
  // Tests that cancel never await it.
  result.catch(() => undefined);
  return { key, result, progress: seen };
}

export function call(link: Link, name: string, args: JsonObject = {}, settings: SendSettings = {}): Sent {
  return send(link, 'tools/call', { name, arguments: args }, settings);
}

/** The failure a request ended with. */
export async function failureOf(sent: Sent): Promise<RequestFailure> {
  try {
    await sent.result;
  } catch (error) {
    if (error instanceof SinkError) return error.failed;
    throw error;
  }
  throw new Error('Expected the request to fail.');
}

/** One turn of the event loop: what was caused before it has happened after it. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
