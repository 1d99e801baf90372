/** Whether a result is one of its request: for requests that are no tool calls (SPEC RE-1). Loaded with the first of them. */
import { HoldfastError } from './domain/errors.ts';
import { isRecord } from './domain/json.ts';
import type { JsonObject } from './domain/json.ts';

/** @throws HoldfastError `protocol_error` for a result that is none of its request. */
export function checkShape(method: string, server: string, result: JsonObject): void {
  const fault = shapeFault(method, result);
  if (fault === undefined) return;
  throw new HoldfastError(
    'protocol_error',
    `Expected server "${server}" to answer "${method}" with ${fault}, got a result without. This is a fault of the server.`,
    { outcome: 'failed' },
  );
}

/** What of a result is not as the protocol has it: where, what was expected. Undefined when nothing is. */
function shapeFault(method: string, result: JsonObject): string | undefined {
  switch (method) {
    case 'resources/read':
      return listFault(result, 'contents', contentsFault);
    case 'prompts/get':
      return listFault(result, 'messages', messageFault);
    case 'tools/list':
      return pageFault(result, 'tools', ['name']);
    case 'prompts/list':
      return pageFault(result, 'prompts', ['name']);
    case 'resources/list':
      return pageFault(result, 'resources', ['uri', 'name']);
    case 'resources/templates/list':
      return pageFault(result, 'resourceTemplates', ['uriTemplate', 'name']);
    case 'completion/complete':
      return completionFault(result['completion']);
    default:
      return undefined;
  }
}

function pageFault(result: JsonObject, key: string, needs: readonly string[]): string | undefined {
  const fault = listFault(result, key, (item) => {
    const missing = needs.find((name) => typeof item[name] !== 'string');
    return missing === undefined ? undefined : `a "${missing}"`;
  });
  const { nextCursor = null } = result;
  return fault ?? (nextCursor === null || typeof nextCursor === 'string' ? undefined : 'a text as its "nextCursor"');
}

function listFault(
  result: JsonObject,
  key: string,
  faultOf: (item: Readonly<Record<string, unknown>>) => string | undefined,
): string | undefined {
  const list: unknown = result[key];
  if (!Array.isArray(list)) return `the list "${key}"`;
  for (const [index, item] of list.entries()) {
    const fault = isRecord(item) ? faultOf(item) : 'an object';
    if (fault !== undefined) return `${fault} in entry ${String(index)} of "${key}"`;
  }
  return undefined;
}

function contentsFault({ uri, text, blob }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof uri !== 'string') return 'a "uri"';
  if (typeof text === 'string') return blob === undefined ? undefined : '"text" or "blob" and not both';
  if (typeof blob !== 'string') return 'a "text" or a "blob"';
  return base64.test(blob) && blob.length % 4 === 0 ? undefined : 'a "blob" of base64';
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

function messageFault({ role, content }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof role !== 'string') return 'a "role"';
  return isRecord(content) && typeof content['type'] === 'string' ? undefined : 'a "content" with its type';
}

function completionFault(completion: unknown): string | undefined {
  const values: unknown = isRecord(completion) ? completion['values'] : undefined;
  const isList = Array.isArray(values) && values.every((value) => typeof value === 'string');
  return isList ? undefined : 'the list "values" of texts in "completion"';
}
