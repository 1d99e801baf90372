/** What changed about a tool since the person last approved it, short enough to be read (SPEC PO-3). */
import type { ApprovedTool } from './approval-memory.ts';
import type { Json, JsonObject } from './json.ts';
import { toJson } from './json.ts';

/** One part of a tool that is not what it was. JSON. */
export interface ToolChange extends JsonObject {
  readonly field: 'origin' | 'title' | 'description' | 'annotations' | 'inputSchema' | 'outputSchema';
  /** `null` when there was none. What is long is cut to the place where the two part. */
  readonly before: Json;
  /** `null` when there is none any more. */
  readonly after: Json;
}

const fields = ['origin', 'title', 'description', 'annotations', 'inputSchema', 'outputSchema'] as const;

/** Longest text of one side of a change. */
const maxLength = 2_000;
/** How much of what the two share is shown before the place where they part. */
const shared = 100;

/** Compares a tool with what was approved; empty when the person saw all of it. */
export function toolChanges(before: ApprovedTool, after: ApprovedTool): readonly ToolChange[] {
  return fields.flatMap((field): readonly ToolChange[] => {
    const [old, now] = [toJson(before[field]), toJson(after[field])];
    if (textOf(old) === textOf(now)) return [];
    return [{ field, ...cut(old, now) }];
  });
}

/** The same text for the same value, in any order of keys. */
function textOf(value: Json): string {
  return JSON.stringify(value, (_, item: unknown) => sorted(item));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function cut(before: Json, after: Json): { readonly before: Json; readonly after: Json } {
  const [old, now] = [written(before), written(after)];
  if (old.length <= maxLength && now.length <= maxLength) return { before, after };
  const start = Math.max(0, partingOf(old, now) - shared);
  return { before: before === null ? null : part(old, start), after: after === null ? null : part(now, start) };
}

function written(value: Json): string {
  return typeof value === 'string' ? value : textOf(value);
}

/** The first place where two texts differ. */
function partingOf(a: string, b: string): number {
  let index = 0;
  while (index < a.length && a[index] === b[index]) index += 1;
  return index;
}

function part(text: string, start: number): string {
  const end = start + maxLength;
  return `${start === 0 ? '' : '…'}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
