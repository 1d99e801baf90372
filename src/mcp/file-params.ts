/** Parameters a tool declares to be files, as a model is shown them: paths (SPEC NM-6). */
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ListedTool } from '../domain/tool.ts';

/** Where a tool declares them. */
export const fileParamsKey = 'openai/fileParams';

const guidance = 'Give the path of a file; what is in it is sent in its place.';
const listGuidance = 'Give the paths of files; what is in them is sent in their place.';

/** The parameters of a tool that it declares to be files, and has. What is no list of names declares none. */
export function fileParamsOf({ _meta, inputSchema }: ListedTool): readonly string[] {
  const declared = _meta?.[fileParamsKey];
  const { properties } = inputSchema;
  if (!Array.isArray(declared) || !isRecord(properties)) return [];
  const names = declared.filter((name: unknown): name is string => typeof name === 'string' && name !== '');
  return [...new Set(names)].filter((name) => Object.hasOwn(properties, name));
}

/** How many files one call may name. */
export const maxFiles = 100;

/** Whether arguments name their files by paths, and not too many: the others are refused before anybody is asked. */
export function areFilesNamed(args: JsonObject, names: readonly string[]): boolean {
  const paths = names.flatMap((name) => args[name] ?? []);
  return paths.length <= maxFiles && paths.every((path) => typeof path === 'string' && path !== '');
}

/** The schema with each of these parameters as a path, or a list of paths where it is a list. */
export function withPaths(schema: JsonObject, names: readonly string[]): JsonObject {
  const { properties } = schema;
  if (!isRecord(properties)) return schema;
  const paths = names.map((name) => [name, pathSchema(properties[name])] as const);
  return { ...schema, properties: { ...properties, ...Object.fromEntries(paths) } };
}

function pathSchema(given: unknown): JsonObject {
  const { type, items, description } = isRecord(given) ? given : {};
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array')) || items !== undefined;
  const say = isList ? listGuidance : guidance;
  const said = typeof description === 'string' ? description.trim() : '';
  const text = said === '' || said.includes(say) ? said || say : `${said} ${say}`;
  return isList
    ? { type: 'array', items: { type: 'string' }, description: text }
    : { type: 'string', description: text };
}
