/** Built-in tools that ask the person, the model or the client something, in the way of their era. */
import type { ElicitRequestFormParams, InputRequest } from '@modelcontextprotocol/server';
import { createRequestStateCodec, inputRequired, UrlElicitationRequiredError } from '@modelcontextprotocol/server';
import { isRecord } from '../../domain/json.ts';
import type { ScriptedCall, ScriptedResult, ScriptedTool } from './tool.ts';
import { json, ScriptedArgs, text } from './tool.ts';

const string = { type: 'string' };
const number = { type: 'number' };
const boolean = { type: 'boolean' };

/** The longest time a timer can run: questions have no limit of their own. */
export const noTimeoutMs = 2 ** 31 - 1;

/** Asked when a script names no schema. */
export const defaultSchema = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
} as const satisfies ElicitRequestFormParams['requestedSchema'];

/** What a modern call carries from round to round, sealed in its `requestState`. */
export interface AskState {
  readonly waits: number;
  readonly answers: readonly unknown[];
}

/** Seals and checks `requestState`. One fixed key, so that another process can go on where this one ended. */
export const stateCodec = createRequestStateCodec<AskState>({
  key: 'holdfast/testing: every scripted server can read this',
  ttlSeconds: 10 * 365 * 24 * 3600,
});

/** Makes the parameters of a form question as a script describes them, whatever the schema is worth. */
export function formParams(
  message: string,
  schema: Readonly<Record<string, unknown>> | undefined,
): ElicitRequestFormParams {
  return { mode: 'form', message, requestedSchema: schema === undefined ? defaultSchema : parseSchema(schema) };
}

/** Lets through any schema: a script may name one that the protocol does not allow. */
function parseSchema(schema: Readonly<Record<string, unknown>>): ElicitRequestFormParams['requestedSchema'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- unchecked on purpose
  return schema as ElicitRequestFormParams['requestedSchema'];
}

interface Question {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: Readonly<Record<string, unknown>>;
}

export const askingTools = {
  ask: {
    description:
      'Asks a form and returns the answer as JSON; all answers as a list when there are several. `rounds` one after the other, ' +
      '`questions` at once in each. Modern: `stateOnlyRounds` first answer with a state alone; `stateless` leaves the state out. ' +
      'Legacy: `standalone` asks outside the stream of the call; `modeless` leaves out the mode. ' +
      'With `key` it parks first: released without a value it asks, with one it returns that instead.',
    properties: {
      key: string,
      message: string,
      schema: { type: 'object' },
      meta: { type: 'object' },
      rounds: number,
      questions: number,
      stateOnlyRounds: number,
      stateless: boolean,
      standalone: boolean,
      modeless: boolean,
    },
    run: async (call) => {
      const { args } = call;
      const instead = await parkFirst(call);
      if (instead !== undefined) return typeof instead === 'string' ? text(instead) : json(instead);
      const { mode, ...rest } = formParams(args.string('message', 'What is your name?'), args.record('schema'));
      const meta = args.record('meta');
      const params = {
        ...(args.flag('modeless') ? {} : { mode }),
        ...rest,
        ...(meta === undefined ? {} : { _meta: meta }),
      };
      return interrogate(call, { method: 'elicitation/create', params });
    },
  },
  askUrl: {
    description: 'Asks the person to open `url` and returns the answer as JSON.',
    properties: { url: string, message: string, elicitationId: string },
    run: (call) => interrogate(call, urlQuestion(call, call.args.all)),
  },
  requireUrl: {
    description:
      'Needs every one of `urls` (`{ url, elicitationId, message }`) opened first. Legacy: error -32042 until `complete` was called ' +
      'for each, or once only with `autoComplete`. Modern: asks for the first.',
    properties: { urls: { type: 'array' }, autoComplete: boolean },
    run: (call) => {
      const listed = call.args.list('urls').filter(isRecord);
      const questions = (listed.length > 0 ? listed : [{}]).map((url) => urlQuestion(call, url));
      const [first] = questions;
      if (call.era === 'modern' && first !== undefined) return interrogate(call, first);
      const missing = questions
        .map(({ params }) => params)
        .filter((params) => !call.stage.completedUrls.has(params.elicitationId));
      if (missing.length === 0) return text('authorized');
      if (call.args.flag('autoComplete'))
        for (const params of missing) call.stage.completedUrls.add(params.elicitationId);
      throw new UrlElicitationRequiredError(missing, 'Open these first.');
    },
  },
  complete: {
    description: 'Says that the url question `elicitationId` is done.',
    properties: { elicitationId: string },
    run: async ({ args, stage }) => {
      await stage.completeUrl(args.string('elicitationId', 'url-1'));
      return text('completed');
    },
  },
  sample: {
    description: 'Asks the client for a completion of `prompt` and returns its result as JSON.',
    properties: { prompt: string },
    run: (call) => {
      const content = { type: 'text', text: call.args.string('prompt', 'Say hello.') };
      return interrogate(call, {
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content }], maxTokens: 100 },
      });
    },
  },
  roots: {
    description: 'Asks the client for its roots and returns them as JSON.',
    run: (call) => interrogate(call, { method: 'roots/list' }),
  },
} as const satisfies Readonly<Record<string, ScriptedTool>>;

function urlQuestion({ args }: ScriptedCall, from: Readonly<Record<string, unknown>>) {
  const read = new ScriptedArgs(from);
  const params = {
    mode: 'url',
    message: read.string('message', 'Open this page.'),
    url: read.string('url', args.string('url', 'https://example.com/authorize')),
    elicitationId: read.string('elicitationId', 'url-1'),
  } as const;
  return { method: 'elicitation/create', params } as const;
}

/** What the call was released with; a round after the first has been let go already. */
function parkFirst({ args, ctx, era, number: call, stage }: ScriptedCall): Promise<unknown> {
  const key = args.string('key', '');
  const isLater = era === 'modern' && (ctx.mcpReq.requestState() ?? ctx.mcpReq.inputResponses) !== undefined;
  return key === '' || isLater ? Promise.resolve(undefined) : stage.park(key, { call, signal: ctx.mcpReq.signal });
}

function interrogate(call: ScriptedCall, question: Question): Promise<ScriptedResult> {
  return call.era === 'modern' ? askInRounds(call, question) : askOnTheWire(call, question);
}

async function askOnTheWire(call: ScriptedCall, question: Question): Promise<ScriptedResult> {
  const { args, ctx, server, stage } = call;
  const rounds = args.number('rounds', 1);
  const questions = args.number('questions', 1);
  const ask = async (): Promise<unknown> => {
    stage.journal.add({ kind: 'asked', call: call.number, value: question });
    const options = { timeout: noTimeoutMs, signal: ctx.mcpReq.signal };
    const request = { method: question.method, ...(question.params === undefined ? {} : { params: question.params }) };
    const answer: unknown = await (args.flag('standalone')
      ? server.server.request(request, options)
      : ctx.mcpReq.send(request, options));
    stage.journal.add({ kind: 'answered', call: call.number, value: answer });
    return answer;
  };
  const answers: unknown[] = [];
  for (let round = 0; round < rounds; round++) {
    answers.push(...(await Promise.all(Array.from({ length: questions }, ask))));
  }
  return said(answers, rounds * questions);
}

async function askInRounds(call: ScriptedCall, question: Question): Promise<ScriptedResult> {
  const { args, ctx, stage } = call;
  const questions = args.number('questions', 1);
  const wanted = args.number('rounds', 1) * questions;
  const before = ctx.mcpReq.requestState<AskState>() ?? { waits: 0, answers: [] };
  const fresh = Object.values(ctx.mcpReq.inputResponses ?? {});
  for (const answer of fresh) stage.journal.add({ kind: 'answered', call: call.number, value: answer });
  const state: AskState = { waits: before.waits, answers: [...before.answers, ...fresh] };
  if (state.waits < args.number('stateOnlyRounds', 0)) {
    return inputRequired({ requestState: await stateCodec.mint({ ...state, waits: state.waits + 1 }) });
  }
  if (state.answers.length >= wanted) return said(state.answers, wanted);
  const request = parseInputRequest(question);
  const inputRequests = Object.fromEntries(
    Array.from({ length: questions }, (_, index) => [`question-${index + 1}`, request]),
  );
  stage.journal.add({ kind: 'asked', call: call.number, value: question });
  if (args.flag('stateless')) return inputRequired({ inputRequests });
  return inputRequired({ inputRequests, requestState: await stateCodec.mint(state) });
}

/** The question as the result of a modern call carries it, even one the protocol does not allow. */
function parseInputRequest({ method, params }: Question): InputRequest {
  // The modern revision has no elicitation ids.
  const { elicitationId: _, ...rest } = params ?? {};
  const request = { method, ...(params === undefined ? {} : { params: rest }) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- unchecked on purpose
  return request as InputRequest;
}

function said(answers: readonly unknown[], wanted: number): ScriptedResult {
  return json(wanted === 1 ? answers[0] : answers);
}
