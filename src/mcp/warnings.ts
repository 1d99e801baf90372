/** Warnings a hostile or chatty server causes, bounded a code so that it cannot flood whoever listens. */

export type Warn = (code: string, message: string) => void;

/** How many warnings of one code one link tells. */
export const warningsPerCode = 16;

/** Passes on the first {@link warningsPerCode} warnings of each code and is silent about the rest. */
export function boundWarnings(warn: Warn): Warn {
  const counts = new Map<string, number>();
  return (code, message) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    if (count < warningsPerCode) warn(code, message);
    else if (count === warningsPerCode) warn(code, `${message} More warnings of this kind are not shown.`);
  };
}
