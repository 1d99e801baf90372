/** Finds what has the form of a reference, in one pass whatever the text: regular expressions go over some texts again and again. */

/** Text of the form of a reference, and where it starts. */
export interface Find {
  readonly index: number;
  readonly text: string;
}

/** Finds everything of a form in a text, from its start, none within another. */
export type Finder = (text: string) => Iterable<Find>;

/** How deep braces within a reference are looked through: all of it is one reference, which then has no value. */
const deepestBraces = 6;

const opening = 0x7b;
const closing = 0x7d;

/** `${…}` with braces in pairs between, and with `others` what a global expression finds besides. It must be quick itself. */
export function bracesAnd(others?: RegExp): Finder {
  return function* (text) {
    const ends = bracesOf(text);
    const rest = others === undefined ? [][Symbol.iterator]() : text.matchAll(others);
    let other = rest.next();
    let last = 0;
    for (const [index, end] of ends) {
      for (; other.done !== true && other.value.index < index; other = rest.next())
        if (other.value.index >= last) yield { index: other.value.index, text: other.value[0] };
      if (index < last) continue;
      yield { index, text: text.slice(index, end) };
      last = end;
    }
    for (; other.done !== true; other = rest.next())
      if (other.value.index >= last) yield { index: other.value.index, text: other.value[0] };
  };
}

/** What a global expression finds, which must be quick itself. */
export function matching(pattern: RegExp): Finder {
  return function* (text) {
    for (const match of text.matchAll(pattern)) yield { index: match.index, text: match[0] };
  };
}

/** Puts something else in the place of each find. */
export function replaceFinds(text: string, find: Finder, replace: (found: string) => string): string {
  const parts: string[] = [];
  let last = 0;
  for (const { index, text: found } of find(text)) {
    parts.push(text.slice(last, index), replace(found));
    last = index + found.length;
  }
  return last === 0 ? text : parts.join('') + text.slice(last);
}

/** Where each `${…}` starts and ends, by its start. Those within another are among them. */
function bracesOf(text: string): readonly (readonly [number, number])[] {
  const first = text.indexOf('${');
  const last = text.lastIndexOf('}');
  if (first < 0 || last < first) return [];
  const found: (readonly [number, number])[] = [];
  // What is open, and how deep braces are within each: two plain lists, since a text may open millions.
  const open: number[] = [];
  const inner: number[] = [];
  for (let at = first + 1; at <= last; at += 1) {
    const code = text.charCodeAt(at);
    if (code === opening) {
      open.push(at);
      inner.push(0);
    }
    if (code !== closing) continue;
    const start = open.pop();
    const depth = inner.pop();
    if (start === undefined || depth === undefined) continue;
    inner.push(Math.max(inner.pop() ?? 0, depth + 1));
    if (open.length === 0) inner.length = 0;
    if (text[start - 1] === '$' && depth <= deepestBraces) found.push([start - 1, at + 1]);
  }
  return found.toSorted(([a], [b]) => a - b);
}
