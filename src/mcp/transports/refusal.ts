/** What a refused HTTP request was answered with, beyond what the SDK's errors carry. */

export interface Refusal {
  readonly status: number;
  /** From `Retry-After`, counted from when it came. */
  readonly retryAfterMs?: number;
  /** `WWW-Authenticate`. */
  readonly challenge?: string;
  /** Of a redirect: `Location`. */
  readonly location?: string;
}

const refusals = new WeakMap<object, Refusal>();

/** The HTTP response behind an error that `WireTransport.send` rejected with; `undefined` if there was none. */
export function refusalOf(error: unknown): Refusal | undefined {
  return typeof error === 'object' && error !== null ? refusals.get(error) : undefined;
}

/** Reads what matters of a response that is not ok. */
export function readRefusal(status: number, header: (name: string) => string | undefined, now: number): Refusal {
  const retryAfterMs = parseRetryAfter(header('retry-after'), now);
  const challenge = header('www-authenticate');
  const location = status >= 300 && status < 400 ? header('location') : undefined;
  return {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(challenge === undefined ? {} : { challenge }),
    ...(location === undefined ? {} : { location }),
  };
}

/** Attaches it to the error made of that response. */
export function attachRefusal(error: unknown, refusal: Refusal | undefined): void {
  if (refusal !== undefined && typeof error === 'object' && error !== null) refusals.set(error, refusal);
}

function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
