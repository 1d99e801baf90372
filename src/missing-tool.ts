/** Why a step has no tool of a name (SPEC NM-1, CN-3). Loaded by the first call of one. */
import type { Effects } from './actors/effects.ts';
import { HoldfastError } from './domain/errors.ts';
import { nameStart } from './mcp/names.ts';
import type { ToolView } from './mcp/tool-view.ts';

/** Where a name was looked for. */
export interface Searched {
  readonly effects: Effects;
  readonly generation: number;
  readonly view: ToolView;
}

/** What is told of a name nothing is advertised under, with the state of its server where the name says which one it is. */
export function missingTool(name: string, { effects, generation, view }: Searched): HoldfastError {
  const why = serverInWords(name, effects, generation);
  return new HoldfastError(
    'unknown_tool',
    `Expected one of the tools this step advertises, got "${name}". ${why}${hintFor([...view.routes.keys()])}`,
    { outcome: 'not-sent' },
  );
}

function serverInWords(name: string, { servers, redactor }: Effects, generation: number): string {
  const plan = servers.planOf(generation);
  if (plan === undefined) return '';
  const reasons = new Map(Object.entries({ ...plan.removed, ...plan.misconfigured, ...plan.disabled }));
  const names = new Set([...plan.servers.keys(), ...reasons.keys()]);
  const [server] = [...names]
    .filter((each) => name.startsWith(nameStart(each)))
    .toSorted((a, b) => nameStart(b).length - nameStart(a).length);
  if (server === undefined) return '';
  const reason = reasons.get(server);
  if (reason !== undefined) return `${redactor.text(reason.message)} `;
  const planned = plan.servers.get(server);
  if (planned?.config.enabled === false)
    return `Server "${server}" is disabled by its own configuration. Set "enabled" to true to use it. `;
  const { state, failure } = planned?.connection ?? {};
  if (state === undefined || state === 'ready') return '';
  const said = failure === undefined ? '.' : `: ${redactor.text(failure.message)}`;
  return `Server "${server}" is in state "${state}"${said} `;
}

function hintFor(names: readonly string[]): string {
  if (names.length === 0) return 'It advertises none: no server was ready when it began, or none has tools.';
  const first = names.slice(0, 8).map((name) => `"${name}"`);
  return `It advertises ${first.join(', ')}${names.length > first.length ? ' and more' : ''}.`;
}
