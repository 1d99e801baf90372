/** Headers that a helper gives anew when the server does not take the ones it was sent (SPEC CN-7). */
import type { Fetch } from '../../domain/authorization.ts';
import { messageOf } from '../../domain/errors.ts';

/** Gives the headers of a server anew. */
export type HeaderHelper = () => Promise<Readonly<Record<string, string>>>;

/** Longest a helper may take before its server is taken at its word. */
const helperLimitMs = 30_000;

/**
 * Wraps a `fetch`: a request that is answered with 401 is sent once more, with the headers the helper gives then.
 *
 * One run of the helper serves all who wait for it; new headers that are refused as well are not followed by another run.
 */
export function withRenewedHeaders(next: Fetch, helper: HeaderHelper, warn: (message: string) => void): Fetch {
  let headers: Readonly<Record<string, string>> | undefined;
  let isUntried = false;
  let running: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    try {
      headers = await withinLimit(helper());
      isUntried = true;
    } catch (error) {
      warn(
        `Expected the headers helper to give headers, got "${messageOf(error)}". The server keeps refusing the old ones.`,
      );
    } finally {
      running = undefined;
    }
  };
  const send = (url: string | URL, init: RequestInit | undefined): Promise<Response> => {
    if (headers === undefined) return next(url, init);
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return next(url, { ...init, headers: all });
  };
  return async (url, init) => {
    const used = headers;
    const response = await send(url, init);
    if (response.status !== 401) {
      if (headers === used) isUntried = false;
      return response;
    }
    if (headers === used && !isUntried) await (running ??= renew());
    if (headers === used) return response;
    await response.body?.cancel();
    const again = await send(url, init);
    if (again.status !== 401) isUntried = false;
    return again;
  };
}

async function withinLimit<TResult>(promise: Promise<TResult>): Promise<TResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`nothing within ${String(helperLimitMs)} ms`));
    }, helperLimitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
