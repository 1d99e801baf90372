/** Reading listings whole or not at all (SPEC CN-4), and the tools among them (SPEC NM-3). */
import { toError } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { DroppedTool, Link, WireRequest } from '../domain/link.ts';
import type { ListedTool, ToolAnnotations } from '../domain/tool.ts';
import { WireError, say } from './wire-error.ts';
import { guardSchema } from './schema-guard.ts';
import type { Warn } from './warnings.ts';
import { clip, parseObject, textLimits } from './wire.ts';

/** What a listing may measure before it counts as broken. */
export const listingLimits = { pages: 100, items: 2_048, cursorBytes: 65_536 } as const;

/** Which listing of which server: `tools/list` with its items under `tools`. */
export interface Listing {
  /** The raw name of the server, for errors. */
  readonly server: string;
  readonly method: string;
  readonly key: string;
}

/** Sends one request of a listing and resolves with its raw result. */
export type AskPage = (request: WireRequest) => Promise<JsonObject>;

/**
 * Follows all pages of a listing and resolves with its items, unchecked.
 *
 * @throws HoldfastError `protocol_error` for a page without `key` or with a bad or repeated cursor, `limit_exceeded` for
 * more pages, items or cursor bytes than {@link listingLimits}; and whatever `askPage` rejects with. Never a part.
 */
export async function followPages(askPage: AskPage, listing: Listing): Promise<readonly unknown[]> {
  const { method, key } = listing;
  const items: unknown[] = [];
  const cursors = new Set<string>();
  const context = { server: listing.server, expected: `a whole answer to "${method}"` };
  for (let cursor: string | undefined, page = 1; ; page++) {
    const result = await askPage(cursor === undefined ? { method } : { method, params: { cursor } });
    const batch = result[key];
    if (!Array.isArray(batch)) throw new WireError('protocol_error', say(context, `a page without the array "${key}"`));
    if (items.length + batch.length > listingLimits.items)
      throw tooMuch(context, `more than ${listingLimits.items} items`);
    for (const item of batch) items.push(item);
    const next = result['nextCursor'];
    if (next === undefined || next === null) return items;
    if (typeof next !== 'string')
      throw new WireError('protocol_error', say(context, `a cursor of type ${typeof next}`));
    if (next.length > listingLimits.cursorBytes || Buffer.byteLength(next) > listingLimits.cursorBytes)
      throw tooMuch(context, 'a cursor over 64 KiB');
    if (cursors.has(next)) throw new WireError('protocol_error', say(context, `the cursor "${clip(next, 40)}" again`));
    if (page >= listingLimits.pages) throw tooMuch(context, `more than ${listingLimits.pages} pages`);
    cursors.add(next);
    cursor = next;
  }
}

/**
 * Lists everything of one kind over an open link: resources, templates, prompts. Nothing is repeated on failure.
 *
 * @throws HoldfastError as {@link followPages}, what the link says of the request, or `aborted` when `signal` aborts.
 */
export function listPages(
  link: Pick<Link, 'send' | 'cancel'>,
  listing: Listing & { readonly signal?: AbortSignal },
): Promise<readonly unknown[]> {
  const { signal } = listing;
  return followPages((request) => sendOver(link, request, signal), listing);
}

/**
 * Lists the tools. A tool that cannot be used costs only itself, and a warning.
 *
 * @throws HoldfastError as {@link followPages}.
 */
export async function listTools(
  askPage: AskPage,
  server: string,
  warn: Warn,
  onDropped?: (dropped: DroppedTool) => void,
): Promise<readonly ListedTool[]> {
  const items = await followPages(askPage, { server, method: 'tools/list', key: 'tools' });
  return usableTools(items, server, warn, onDropped);
}

function sendOver(
  link: Pick<Link, 'send' | 'cancel'>,
  request: WireRequest,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const aborted = (): WireError =>
      new WireError('aborted', `Expected to wait for the result of "${request.method}", but it was aborted.`);
    if (signal?.aborted === true) {
      reject(aborted());
      return;
    }
    const settle = (): void => {
      signal?.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      link.cancel(key);
      reject(aborted());
    };
    const key = link.send(request, {
      onResult: (result) => {
        settle();
        resolve(result);
      },
      onFailure: ({ failure }) => {
        settle();
        reject(toError(failure));
      },
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The tools among the entries of a listing: one that cannot be used costs only itself, and a warning. */
export function usableTools(
  items: readonly unknown[],
  server: string,
  warn: Warn,
  onDropped?: (dropped: DroppedTool) => void,
): readonly ListedTool[] {
  const tools = new Map<string, ListedTool>();
  const drop = (item: unknown, reason: string, verdict: string): void => {
    warn('tool_dropped', `Server "${server}": ${reason} ${verdict}`);
    const name = isRecord(item) && typeof item['name'] === 'string' ? item['name'] : '';
    onDropped?.({ tool: clip(name, textLimits.label), reason });
  };
  for (const item of items) {
    const tool = readTool(item, (what) => {
      warn('text_cut', `Server "${server}": ${what}`);
    });
    if ('fault' in tool) drop(item, tool.fault, 'The tool is not offered.');
    else if (tools.has(tool.name))
      drop(item, `expected tool names to be unique, got "${clip(tool.name, 80)}" again.`, 'The first is kept.');
    else tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

function readTool(item: unknown, onCut: (what: string) => void): ListedTool | { readonly fault: string } {
  if (!isRecord(item))
    return { fault: `expected a tool to be an object, got ${item === null ? 'null' : typeof item}.` };
  const { name, title, description, annotations, _meta, inputSchema, outputSchema, ...rest } = item;
  if (typeof name !== 'string' || name === '') return { fault: 'expected a tool to have a name.' };
  const shown = clip(name, 80);
  if (name.length > textLimits.label)
    return {
      fault: `expected a tool name of at most ${String(textLimits.label)} characters, got one of ${String(name.length)}: "${shown}".`,
    };
  const input = parseObject(inputSchema);
  if (input === undefined) return { fault: `expected "inputSchema" of tool "${shown}" to be an object.` };
  const output = parseObject(outputSchema);
  if (output === undefined && outputSchema !== undefined && outputSchema !== null)
    return { fault: `expected "outputSchema" of tool "${shown}" to be an object.` };
  for (const part of [input, output, annotations, _meta, rest]) {
    const verdict = part === undefined || part === null ? accepted : guardSchema(part);
    if (!verdict.ok) return { fault: `tool "${shown}" cannot be used: ${verdict.reason}` };
  }
  const meta = parseObject(_meta);
  if (typeof description === 'string' && description.length > textLimits.prose)
    onCut(
      `expected the description of tool "${shown}" to have at most ${String(textLimits.prose)} characters, got ${String(description.length)}. It was cut.`,
    );
  return {
    ...rest,
    name,
    ...(typeof title === 'string' ? { title: clip(title, textLimits.label) } : {}),
    ...(typeof description === 'string' ? { description: clip(description, textLimits.prose) } : {}),
    inputSchema: input,
    ...(output === undefined ? {} : { outputSchema: output }),
    ...(isRecord(annotations) ? { annotations: readHints(annotations) } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

const accepted = { ok: true } as const;

const hintNames = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** Keeps the hints that have the type the protocol gives them; a hint of another type says nothing. */
function readHints(annotations: Readonly<Record<string, unknown>>): ToolAnnotations {
  const { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint, ...rest } = annotations;
  const hints = { readOnlyHint, destructiveHint, idempotentHint, openWorldHint };
  const kept = Object.fromEntries(
    hintNames.filter((name) => typeof hints[name] === 'boolean').map((name) => [name, hints[name]]),
  );
  return { ...rest, ...(typeof title === 'string' ? { title: clip(title, textLimits.label) } : {}), ...kept };
}

function tooMuch(context: { readonly server: string; readonly expected: string }, got: string): WireError {
  return new WireError('limit_exceeded', say(context, got), { retryable: false });
}
