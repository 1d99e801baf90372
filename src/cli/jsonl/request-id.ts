/** Ids of requests: numbers and strings, echoed as they came, even a number that no double can hold. */
import { findNodeAtLocation, parseTree } from 'jsonc-parser';

/** The id of one line. */
export interface RequestId {
  /** Its JSON as it came: what replies carry, and what two ids are compared by. */
  readonly json: string;
  /** The same as a value for `callId`. */
  readonly value: string | number;
}

const mark = '\u0000number:';
const marked = /"\\u0000number:(-?[0-9.eE+-]+)"/g;
let hasMarked = false;

/** Reads an id out of a line, or `undefined` when what is there is none. */
export function requestIdOf(
  value: unknown,
  line: { readonly text: string; readonly key: string },
): RequestId | undefined {
  if (typeof value === 'string') return { json: JSON.stringify(value), value };
  if (typeof value !== 'number') return undefined;
  if (Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER)
    return { json: JSON.stringify(value), value };
  const json = rawNumber(line.text, line.key) ?? JSON.stringify(value);
  hasMarked = true;
  return { json, value: `${mark}${json}` };
}

/** Puts the numbers that went through `callId` as text back into a line of output. */
export function restoreIds(serialized: string): string {
  return hasMarked && serialized.includes('\\u0000number:') ? serialized.replaceAll(marked, '$1') : serialized;
}

function rawNumber(text: string, key: string): string | undefined {
  const root = parseTree(text);
  const node = root === undefined ? undefined : findNodeAtLocation(root, [key]);
  return node?.type === 'number' ? text.slice(node.offset, node.offset + node.length) : undefined;
}
