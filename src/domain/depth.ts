/** How deep what a peer sends may be nested. Reading JSON goes deeper than writing it, and than most that walks it. */

/** Deepest nesting that is passed on: an object or array without others in it is level 1. */
export const maxDepth = 200;

/** Above this many values on one level those that are there twice are counted once: values in memory can be shared. */
const wideLevel = 1_024;

/**
 * Tells whether a value has more than {@link maxDepth} levels, or contains itself.
 *
 * Goes level by level instead of recursing, and costs a fraction of what reading the value from JSON did.
 */
export function isTooDeep(value: unknown): boolean {
  let level = isNested(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === maxDepth) return true;
    level = below(level.length > wideLevel ? new Set(level) : level);
  }
  return false;
}

function below(level: Iterable<object>): object[] {
  const next: object[] = [];
  for (const each of level) {
    const children: readonly unknown[] = Array.isArray(each) ? each : Object.values(each);
    for (const child of children) if (isNested(child)) next.push(child);
  }
  return next;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
