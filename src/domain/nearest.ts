/** Names that were misspelt. */

/** What to say of a name nobody knows: the one that may be meant, or all there are. */
export function suggestion(name: string, known: readonly string[]): string {
  const [best] = known
    .map((each) => ({ each, far: distance(name.slice(0, 64).toLowerCase(), each.toLowerCase()) }))
    .toSorted((a, b) => a.far - b.far);
  return best !== undefined && best.far <= Math.max(2, best.each.length / 3)
    ? `Did you mean "${best.each}"?`
    : `There are ${known.map((each) => `"${each}"`).join(', ')}.`;
}

/** How many characters are to be put in, taken out or changed. */
function distance(a: string, b: string): number {
  let row = [...b, ''].map((_, index) => index);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (const [at, other] of [...b].entries())
      next.push(Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, (row[at] ?? 0) + (letter === other ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}
