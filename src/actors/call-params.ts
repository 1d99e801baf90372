/** What a call is sent with: its own parameters, the answers of its round, and what its server asked to be told. */
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Link } from '../domain/link.ts';
import type { CallContext } from '../machines/call-context.ts';

/** The capability of servers that want to know what a step may touch, and the key it is told under (SPEC PO-4). */
export const sandboxStateKey = 'codex/sandbox-state-meta';

/** The parameters of a call as they go out over a link. */
export function paramsOf({ input, round }: CallContext, link: Link, prepared?: JsonObject): JsonObject {
  const { sandboxState } = input;
  const params = prepared ?? input.params;
  // Nearly every call: what it was made with, and not a copy of it (PE-1).
  if (round === null && sandboxState === undefined && input.asTask === undefined) return params;
  const augmented: JsonObject = takesTask(input, link) ? { ...params, task: {} } : params;
  const answered = round === null ? augmented : withAnswers(augmented, round);
  if (sandboxState === undefined || !wantsSandboxState(link)) return answered;
  const meta = isRecord(answered['_meta']) ? answered['_meta'] : {};
  return { ...answered, _meta: { ...meta, [sandboxStateKey]: sandboxState } };
}

/** Whether a call goes out as a task: its tool and its server, one of 2025-11-25, say so (SPEC ER-3). */
export function takesTask({ asTask }: CallContext['input'], { info }: Link): boolean {
  if (asTask === undefined || info.era !== 'legacy') return false;
  return hasPath(info.capabilities, ['tasks', 'requests', 'tools', 'call']);
}

/** Whether a server names a capability, however deep. */
export function hasPath(capabilities: JsonObject, path: readonly string[]): boolean {
  let value: unknown = capabilities;
  for (const name of path) value = isRecord(value) ? value[name] : undefined;
  return isRecord(value) || value === true;
}

function withAnswers(params: JsonObject, { responses, requestState }: NonNullable<CallContext['round']>): JsonObject {
  return {
    ...params,
    ...(Object.keys(responses).length === 0 ? {} : { inputResponses: responses }),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

function wantsSandboxState({ info }: Link): boolean {
  const { experimental } = info.capabilities;
  return isRecord(experimental) && Object.hasOwn(experimental, sandboxStateKey);
}
