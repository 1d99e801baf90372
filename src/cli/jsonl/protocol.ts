/** One line of input to one request, and the shapes of what requests carry (SPEC CL-2, "Shapes"). */
import { z } from 'zod';
import { HoldfastError, type Issue, type JsonObject } from '../../index.ts';
import { isObject, nameOf, wordOrNameOf } from '../values.ts';
import { issueInWords } from './issue-words.ts';
import type { InputLine } from './line-reader.ts';
import { type RequestId, requestIdOf } from './request-id.ts';

/** What a line asks for, or why it is refused. */
export type ParsedLine =
  | { readonly kind: 'request'; readonly id: RequestId; readonly name: string; readonly line: RequestLine }
  | { readonly kind: 'refused'; readonly id: RequestId | undefined; readonly error: HoldfastError };

/** The object of a line, with its text. */
export interface RequestLine {
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Reads one line. Never throws. */
export function parseLine(input: InputLine): ParsedLine {
  if (input.kind === 'tooLong')
    return refused(undefined, 'Expected a line of at most 32 MiB, got a longer one. It was skipped up to its LF.');
  const body = parseJson(input.text);
  if (!isObject(body))
    return refused(
      undefined,
      `Expected a line with one JSON object, got ${body === notJson ? 'text that is not JSON' : nameOf(body)}. Write {"id": …, "do": …} and LF.`,
    );
  const id = requestIdOf(body['id'], { text: input.text, key: 'id' });
  if (input.kind === 'notUtf8') return refused(id, 'Expected a line in UTF-8, got other bytes. Encode it as UTF-8.');
  if (id === undefined)
    return refused(
      undefined,
      `Expected "id" to be a number or a string, got ${nameOf(body['id'])}. Give each line an id.`,
    );
  const { do: name } = body;
  if (typeof name !== 'string')
    return refused(id, `Expected "do" to be a string, got ${nameOf(name)}. Name a request.`);
  return { kind: 'request', id, name, line: { body, text: input.text } };
}

const longestMs = 2 ** 31 - 1;
const sayMilliseconds = ({ input }: z.core.$ZodRawIssue) =>
  `expected whole milliseconds from 1 to ${longestMs}, got ${nameOf(input)}`;
const milliseconds = z
  .int({ error: sayMilliseconds })
  .min(1, { error: sayMilliseconds })
  .max(longestMs, { error: sayMilliseconds })
  .exactOptional();
/** Any JSON object. */
export const jsonObject = z.custom<JsonObject>(isObject, {
  error: ({ input }) => `expected an object, got ${nameOf(input)}`,
});
const text = z.string();
const list = {
  step: text.exactOptional(),
  server: text,
  timeoutMs: milliseconds,
  cursor: text.exactOptional(),
  all: z.boolean().exactOptional(),
  fresh: z.boolean().exactOptional(),
};
const single = { step: text.exactOptional(), server: text, timeoutMs: milliseconds };

/** What each request carries, by its name in `do`. */
export const shapes = {
  ready: z.object({ timeoutMs: milliseconds }),
  beginStep: z.object({ timeoutMs: milliseconds }),
  callTool: z.object({ step: text, name: text, args: z.unknown().optional(), timeoutMs: milliseconds }),
  abort: z.object({
    target: z.union([z.string(), z.number()], {
      error: ({ input }) => `expected the id of a request: a number or a string, got ${nameOf(input)}`,
    }),
  }),
  endStep: z.object({ step: text }),
  list: z.object(list),
  readResource: z.object({ ...single, uri: text, fresh: z.boolean().exactOptional() }),
  subscription: z.object({ server: text, uri: text, timeoutMs: milliseconds }),
  status: z.object({
    detail: z.enum(['summary', 'tools', 'full']).exactOptional(),
    servers: z.array(text).exactOptional(),
    timeoutMs: milliseconds,
  }),
  readSkill: z.object({
    step: text,
    skill: z.union([text, z.object({ server: text, uri: text })], {
      error: ({ input }) => `expected an id, a name, or { server, uri }, got ${nameOf(input)}`,
    }),
    file: text.exactOptional(),
    timeoutMs: milliseconds,
  }),
  getPrompt: z.object({
    ...single,
    name: text,
    arguments: z.record(z.string(), z.string()).exactOptional(),
    args: z.record(z.string(), z.string()).exactOptional(),
  }),
  complete: z.object({ ...single, ref: jsonObject, argument: jsonObject, context: jsonObject.exactOptional() }),
  respond: z.object({ token: text, answer: jsonObject }),
  replace: z.object({
    servers: z.unknown().optional(),
    files: z.array(text).min(1, 'expected at least one file, got none').exactOptional(),
    publish: z.enum(['settled', 'immediate']).exactOptional(),
  }),
  restartServer: z.object({ server: text }),
  authorize: z.object({ server: text, scopes: z.array(text).exactOptional(), anew: z.boolean().exactOptional() }),
  finishAuthorization: z.object({ url: text }),
  setRoots: z.object({
    roots: z.array(
      z.object({
        uri: text.startsWith('file://', {
          error: ({ input }) => `expected a "file://" uri, got ${wordOrNameOf(input)}`,
        }),
        name: text.exactOptional(),
      }),
    ),
  }),
  nothing: z.object({}),
} as const;

/** The answer of a `respond` line. */
export const answerShape = z.discriminatedUnion(
  'action',
  [
    z.object({ action: z.literal('accept'), content: jsonObject.exactOptional(), _meta: jsonObject.exactOptional() }),
    z.object({ action: z.literal('decline'), _meta: jsonObject.exactOptional() }),
    z.object({ action: z.literal('cancel'), _meta: jsonObject.exactOptional() }),
  ],
  { error: 'expected "accept", "decline" or "cancel" as "action"' },
);

/**
 * Checks what a request carries.
 *
 * @throws HoldfastError `invalid_argument` with issues.
 */
export function parseBody<TShape extends z.ZodType>(shape: TShape, name: string, body: unknown): z.infer<TShape> {
  const parsed = shape.safeParse(body, { error: issueInWords });
  if (parsed.success) return parsed.data;
  throw invalidArgument(name, issuesOf(parsed.error));
}

/** The error for a request whose fields are wrong. Nothing of it was done, which a call says in `outcome`. */
export function invalidArgument(name: string, issues: readonly Issue[]): HoldfastError {
  const said = issues.map((issue) => `"${issue.path}" ${issue.message}`).join('; ');
  return new HoldfastError('invalid_argument', `Request "${name}": ${said}. Mend it and send it again.`, {
    issues,
    ...(name === 'callTool' ? { outcome: 'not-sent' } : {}),
  });
}

/** Zod's issues as Holdfast's. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({
    path: issue.path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    message: issue.message,
  }));
}

const notJson = Symbol('not JSON');

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source) as unknown;
  } catch {
    return notJson;
  }
}

function refused(id: RequestId | undefined, message: string): ParsedLine {
  return { kind: 'refused', id, error: new HoldfastError('invalid_request', message) };
}
