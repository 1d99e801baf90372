/** Puts what the host gives for a file in the place of its path (SPEC NM-6). Loaded with the first call that has one. */
import type { DeclaredFile, FileProvider } from '../domain/files.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { isTooDeep, maxDepth } from '../domain/depth.ts';
import { maxFiles } from './file-params.ts';

/** Whose parameters these are, and who gives what is in their files. */
export interface FileCall {
  readonly server: string;
  readonly tool: string;
  /** The names of the parameters. */
  readonly files: readonly string[];
  readonly provide: FileProvider;
  readonly signal: AbortSignal;
}

/**
 * The parameters of a call with the content of files in the place of their paths; one file after another.
 *
 * @throws HoldfastError `invalid_arguments`, `not-sent`: a path that is none, or a file there is no content for.
 */
export async function withFileContent(params: JsonObject, call: FileCall): Promise<JsonObject> {
  const { arguments: args } = params;
  if (!isRecord(args)) return params;
  const filled: Record<string, unknown> = { ...args };
  let count = 0;
  const named = call.files.flatMap((parameter) => {
    const given = args[parameter];
    if (given === undefined || given === null) return [];
    const paths = pathsOf(given, parameter, call);
    count += paths.length;
    if (count > maxFiles) throw refused(call, parameter, `at most ${String(maxFiles)} files in a call, got more`);
    return [{ parameter, given, paths }];
  });
  for (const { parameter, given, paths } of named) {
    const contents: Json[] = [];
    for (const path of paths)
      contents.push(await contentOf({ path, parameter, server: call.server, tool: call.tool }, call));
    filled[parameter] = Array.isArray(given) ? contents : contents[0];
  }
  return { ...params, arguments: argumentsOf(filled) };
}

function pathsOf(given: unknown, parameter: string, call: FileCall): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const paths = list.filter((path): path is string => typeof path === 'string' && path !== '');
  if (paths.length === list.length) return paths;
  throw refused(call, parameter, `the path of a file, or a list of paths, got ${shown(given)}`);
}

async function contentOf(file: DeclaredFile, call: FileCall): Promise<Json> {
  const content = await provided(file, call);
  if (isTooDeep(content))
    throw refused(call, file.parameter, `content of at most ${String(maxDepth)} levels for "${file.path}", got deeper`);
  if (content !== undefined && typeof content !== 'function') return content;
  throw refused(call, file.parameter, `the host to give JSON for "${file.path}", got ${shown(content)}`);
}

async function provided(file: DeclaredFile, call: FileCall): Promise<Json | undefined> {
  try {
    return await call.provide(file, { signal: call.signal });
  } catch (error) {
    const got = `"${messageOf(error)}"`;
    throw refused(call, file.parameter, `the host to give the content of "${file.path}", got ${got}`, error);
  }
}

function refused({ server, tool }: FileCall, parameter: string, what: string, cause?: unknown): HoldfastError {
  const message = `Expected ${what}.`;
  return new HoldfastError(
    'invalid_arguments',
    `The call of tool "${tool}" of server "${server}" was not sent. Parameter "${parameter}": ${message}`,
    { outcome: 'not-sent', issues: [{ path: `/${parameter}`, message }], ...(cause === undefined ? {} : { cause }) },
  );
}

/** Names arguments whose values were JSON, or are from the host, which says that it gives JSON. */
function argumentsOf(filled: Readonly<Record<string, unknown>>): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is no JSON is refused as the frame is written
  return filled as JsonObject;
}
