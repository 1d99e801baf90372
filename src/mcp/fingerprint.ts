/** What tells one definition of a tool from another (SPEC NM-5). */
import { createHash } from 'node:crypto';
import type { ListedTool } from '../domain/tool.ts';

const maxDepth = 220;

const known = new WeakMap<ListedTool, string>();

/**
 * SHA-256 (hex) of a tool's name, description, schemas and annotations, the same in any order of keys.
 *
 * Remembered for the object. Schemas are expected to have passed `guardSchema`: what is nested deeper than 220 levels
 * does not count.
 */
export function fingerprint(tool: ListedTool): string {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const { name, description, inputSchema, outputSchema, annotations } = tool;
  const text = canonicalJson({ name, description, inputSchema, outputSchema, annotations }, 0);
  const hash = createHash('sha256').update(text).digest('hex');
  known.set(tool, hash);
  return hash;
}

function canonicalJson(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return scalarJson(value);
  if (depth >= maxDepth) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(',')}]`;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const members = entries
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item, depth + 1)}`);
  return `{${members.join(',')}}`;
}

function scalarJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'null';
}
