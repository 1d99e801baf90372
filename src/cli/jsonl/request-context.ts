/** What the handler of a request may use of its session. */
import type { Step, Thread } from '../../index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import type { RequestLine } from './protocol.ts';
import type { ReplaceQueue } from './replace-queue.ts';
import type { RequestId } from './request-id.ts';

/** A request that is not answered yet. */
export interface OpenRequest {
  readonly id: RequestId;
  readonly name: string;
  readonly signal: AbortSignal;
  /** The step it belongs to, once that is known. */
  step: string | undefined;
}

/** Something worth telling that harms nothing. */
export interface SessionWarning {
  readonly code: string;
  readonly message: string;
  readonly server?: string;
}

/** The session as handlers see it. */
export interface RequestContext {
  readonly thread: Thread;
  readonly replacements: ReplaceQueue;
  /** Reads the `files` of a `replace`. */
  readonly readFiles: (files: readonly string[]) => Promise<ResolvedConfig>;
  /** Remembers a step that was begun. */
  keep(step: Step): void;
  /** @throws HoldfastError `step_ended`, `unknown_step` */
  step(id: string): Step;
  /** Ends a step; resolves when its requests are answered. Ending it again is no error. */
  endStep(id: string): Promise<void>;
  /** Aborts an open request for another one; resolves, with whether it was answered as aborted, once it is answered. */
  abort(target: RequestId, by: RequestId): Promise<boolean>;
  /** Closes the thread; resolves when everything but the requests to `close` is answered. */
  close(reason: string): Promise<void>;
  /** Tells something as a `warning`. */
  warn(warning: SessionWarning): void;
}

/** Does what one kind of request asks for. Runs up to its first wait in the turn in which the line came. */
export type RequestHandler = (line: RequestLine, context: RequestContext, request: OpenRequest) => Promise<unknown>;
