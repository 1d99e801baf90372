/**
 * The tools a step advertises: what the servers listed, named, filtered, and frozen (SPEC NM-1, NM-2, NM-5).
 *
 * Names are given over everything that was listed, filtered tools included, so that a filter renames nothing.
 */
import type { ServerProvenance } from '../domain/catalog.ts';
import type { ServerConfig, ToolSettings } from '../domain/config.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ListedTool, ToolInfo } from '../domain/tool.ts';
import { fileParamsOf, withPaths } from './file-params.ts';
import { fingerprint } from './fingerprint.ts';
import type { RawTool } from './names.ts';
import { nameTools } from './names.ts';

/** What one server of a runtime contributes. `tools` is not changed in place: a new listing is a new array. */
export interface ToolSource {
  /** The raw name of the server. */
  readonly server: string;
  readonly config: ServerConfig;
  readonly tools: readonly ListedTool[];
  /** What runs (`stdio: node server.js …`), `in-memory`, `given`, or the origin of the url. Without secrets. */
  readonly origin: string;
  readonly provenance?: ServerProvenance;
  /** Parameters it declares to be files are shown as paths (SPEC NM-6). Default false. */
  readonly files?: boolean;
}

/** Where a call of an advertised name goes. */
export interface ToolRoute extends RawTool {
  /** The tool says it changes nothing. */
  readonly readOnly: boolean;
  /** The tool says that doing it twice is doing it once; read-only ones are (SPEC RT-10). */
  readonly idempotent: boolean;
  /** It may be, or has to be, called as a task where its server of 2025-11-25 takes them (SPEC ER-3). */
  readonly asTask: boolean;
  /** What its successful results are checked against (SPEC NM-4). */
  readonly output?: OutputRule;
  /** Its parameters that are shown as paths (SPEC NM-6). */
  readonly files?: readonly string[];
  readonly info: ToolInfo;
}

/** What a tool says of its results. */
export type OutputRule = Pick<ToolInfo, 'server' | 'tool' | 'fingerprint'> & { readonly schema: JsonObject };

export interface ToolView {
  /** What the model is shown, in the order of the servers and their lists. */
  readonly tools: readonly ToolInfo[];
  /** Exactly the names of `tools`. A name that is not here is unknown, hidden or denied. */
  readonly routes: ReadonlyMap<string, ToolRoute>;
  /** Names that `allow` and `deny` took out; a hidden tool is not among them. */
  readonly denied: ReadonlyMap<string, RawTool>;
}

export interface ToolViewOptions {
  /** Longest name, 16 to 128. */
  readonly maxToolNameLength: number;
}

interface Remembered extends ToolViewOptions {
  readonly sources: readonly ToolSource[];
  readonly view: ToolView;
}

const maxRemembered = 8;

const remembered = new WeakMap<readonly ListedTool[], readonly Remembered[]>();

/**
 * Makes the view of a runtime's tools.
 *
 * Given the same inventories again (the same arrays, under the same names and filters) it returns the same view, in time
 * that grows with the number of servers and not of tools.
 *
 * @throws HoldfastError `invalid_argument` for a `maxToolNameLength` outside 16 to 128.
 */
export function toolView(sources: readonly ToolSource[], options: ToolViewOptions): ToolView {
  const key = sources[0]?.tools;
  const before = key === undefined ? [] : (remembered.get(key) ?? []);
  const hit = before.find(
    (each) => each.maxToolNameLength === options.maxToolNameLength && isSame(each.sources, sources),
  );
  if (hit !== undefined) return hit.view;
  const view = makeView(sources, options);
  if (key !== undefined) {
    remembered.set(
      key,
      [{ sources: [...sources], maxToolNameLength: options.maxToolNameLength, view }, ...before].slice(
        0,
        maxRemembered,
      ),
    );
  }
  return view;
}

/** Tells whether a server's `allow` and `deny` let a tool through, by its raw name. `deny` wins. */
export function isToolAllowed(settings: ToolSettings | undefined, tool: string): boolean {
  if (settings?.deny?.includes(tool) === true) return false;
  return settings?.allow?.includes(tool) ?? true;
}

/** Tells whether a tool is for the model: `_meta.ui.visibility` is missing, no list, or a list with `model`. */
export function isModelVisible(tool: ListedTool): boolean {
  const ui = tool._meta?.['ui'];
  const visibility = isRecord(ui) ? ui['visibility'] : undefined;
  return !Array.isArray(visibility) || visibility.includes('model');
}

function isSame(before: readonly ToolSource[], now: readonly ToolSource[]): boolean {
  return (
    before.length === now.length &&
    before.every((a, index) => {
      const b = now[index];
      return (
        b !== undefined &&
        a.tools === b.tools &&
        a.config.tools === b.config.tools &&
        a.server === b.server &&
        a.origin === b.origin &&
        a.config.environment === b.config.environment &&
        a.files === b.files &&
        isSameOrigin(a.provenance, b.provenance)
      );
    })
  );
}

function isSameOrigin(a: ServerProvenance | undefined, b: ServerProvenance | undefined): boolean {
  return (
    a?.plugin?.id === b?.plugin?.id &&
    a?.plugin?.name === b?.plugin?.name &&
    a?.connector?.id === b?.connector?.id &&
    a?.connector?.name === b?.connector?.name
  );
}

function makeView(sources: readonly ToolSource[], options: ToolViewOptions): ToolView {
  const raw = sources.flatMap(({ server, tools }) => tools.map((tool) => ({ server, tool: tool.name })));
  const { names } = nameTools(raw, { maxLength: options.maxToolNameLength });
  const routes = new Map<string, ToolRoute>();
  const denied = new Map<string, RawTool>();
  let index = 0;
  for (const source of sources) {
    const isAllowed = filterOf(source.config.tools);
    for (const tool of source.tools) {
      const name = names[index];
      index += 1;
      if (name === undefined || !isModelVisible(tool)) continue;
      if (isAllowed(tool.name)) routes.set(name, routeOf(source, tool, name));
      else denied.set(name, Object.freeze({ server: source.server, tool: tool.name }));
    }
  }
  return Object.freeze({ tools: Object.freeze([...routes.values()].map((route) => route.info)), routes, denied });
}

function filterOf(settings: ToolSettings | undefined): (tool: string) => boolean {
  const allow = settings?.allow === undefined ? undefined : new Set(settings.allow);
  const deny = new Set(settings?.deny);
  return (tool) => !deny.has(tool) && (allow?.has(tool) ?? true);
}

function routeOf(source: ToolSource, tool: ListedTool, name: string): ToolRoute {
  const { server, origin, config, provenance } = source;
  const files = source.files === true ? fileParamsOf(tool) : [];
  const readOnly = tool.annotations?.readOnlyHint === true;
  const info: ToolInfo = Object.freeze({
    ...withoutClaims(tool),
    ...(files.length === 0 ? {} : { inputSchema: frozenCopy(withPaths(tool.inputSchema, files)) }),
    name,
    server,
    tool: tool.name,
    origin,
    ...(provenance?.plugin === undefined ? {} : { plugin: provenance.plugin }),
    ...(provenance?.connector === undefined ? {} : { connector: provenance.connector }),
    environment: config.environment ?? 'local',
    fingerprint: fingerprint(tool),
  });
  return Object.freeze({
    server,
    tool: tool.name,
    readOnly,
    idempotent: readOnly || tool.annotations?.idempotentHint === true,
    asTask: takesTask(tool),
    ...(tool.outputSchema === undefined ? {} : { output: outputRule(info, tool.outputSchema) }),
    ...(files.length === 0 ? {} : { files: Object.freeze(files) }),
    info,
  });
}

/** What a server lists is its own word; where its tools come from is not its to say. */
function withoutClaims(tool: ListedTool & Partial<Pick<ToolInfo, 'plugin' | 'connector'>>): ListedTool {
  if (!Object.hasOwn(tool, 'plugin') && !Object.hasOwn(tool, 'connector')) return tool;
  const { plugin: _plugin, connector: _connector, ...listed } = tool;
  return listed;
}

function outputRule({ server, tool, fingerprint: hash }: ToolInfo, schema: JsonObject): OutputRule {
  return Object.freeze({ server, tool, fingerprint: hash, schema });
}

function takesTask({ execution }: ListedTool): boolean {
  const support = isRecord(execution) ? execution['taskSupport'] : undefined;
  return support === 'required' || support === 'optional';
}
