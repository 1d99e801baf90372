/** Names that were misspelt. */

/** The known name that may be meant by another one; `undefined` when none is close to it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((each) => ({ each, far: distance(name.slice(0, 64).toLowerCase(), each.toLowerCase()) }))
    .toSorted((a, b) => a.far - b.far);
  return best !== undefined && best.far <= Math.max(2, best.each.length / 3) ? best.each : undefined;
}

/** What to say of a name nobody knows: the one that may be meant, or all there are. */
export function suggestion(name: string, known: readonly string[]): string {
  const best = nearest(name, known);
  return best === undefined ? `There are ${known.map((each) => `"${each}"`).join(', ')}.` : `Did you mean "${best}"?`;
}

/** How many characters are to be put in, taken out or changed. */
function distance(a: string, b: string): number {
  const others = Array.from(b);
  let row = Array.from({ length: others.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(a).entries()) {
    const next = [index + 1];
    for (const [at, other] of others.entries())
      next.push(Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, (row[at] ?? 0) + (letter === other ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}
