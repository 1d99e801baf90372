/** What each `do` does (the table of SPEC CL-2). */
import type { z } from 'zod';
import {
  HoldfastError,
  type JsonObject,
  type ListOptions,
  type RespondOutcome,
  type RuntimeServers,
  type ServerRequests,
} from '../../index.ts';
import { parseServerMap } from '../../config/index.ts';
import { isObject, nameOf } from '../values.ts';
import { issueInWords } from './issue-words.ts';
import { answerShape, invalidArgument, issuesOf, jsonObject, parseBody, shapes } from './protocol.ts';
import type { OpenRequest, RequestContext, RequestHandler } from './request-context.ts';
import { requestIdOf } from './request-id.ts';

/** The handlers, by the name in `do`. */
export const handlers: ReadonlyMap<string, RequestHandler> = new Map<string, RequestHandler>([
  [
    'ready',
    handler('ready', shapes.ready, async (body, { thread }, { signal }) => {
      await thread.ready({ ...body, signal });
      return { generation: thread.snapshot().generation };
    }),
  ],
  [
    'beginStep',
    handler('beginStep', shapes.beginStep, async (body, context, { signal }) => {
      const step = await context.thread.beginStep({ ...body, signal });
      context.keep(step);
      const { id, generation, worldState, worldStateChange, tools, skills } = step;
      const changed = worldStateChange === undefined ? {} : { worldStateChange };
      return { step: id, generation, worldState, ...changed, tools, skills };
    }),
  ],
  ['callTool', handler('callTool', shapes.callTool, callTool)],
  [
    'abort',
    async (line, context, request) => {
      const { target } = parseBody(shapes.abort, 'abort', line.body);
      const id = requestIdOf(target, { text: line.text, key: 'target' });
      return { aborted: id !== undefined && (await context.abort(id, request.id)) };
    },
  ],
  [
    'endStep',
    handler('endStep', shapes.endStep, async (body, context) => {
      await context.endStep(body.step);
      return {};
    }),
  ],
  [
    'readSkill',
    handler('readSkill', shapes.readSkill, async (body, context, request) => {
      const { skill, file } = body;
      request.step = body.step;
      const options = { ...limitsOf(body, request), ...(file === undefined ? {} : { file }) };
      return context.step(body.step).readSkill(skill, options);
    }),
  ],
  ['listTools', listing('listTools', async (target, server, options) => target.listTools(server, options))],
  ['listResources', listing('listResources', async (target, server, options) => target.listResources(server, options))],
  [
    'listResourceTemplates',
    listing('listResourceTemplates', async (target, server, options) => target.listResourceTemplates(server, options)),
  ],
  [
    'readResource',
    handler('readResource', shapes.readResource, async (body, context, request) =>
      targetOf(body, context, request).readResource(body.server, body.uri, limitsOf(body, request)),
    ),
  ],
  ['listPrompts', listing('listPrompts', async (target, server, options) => target.listPrompts(server, options))],
  [
    'getPrompt',
    handler('getPrompt', shapes.getPrompt, async (body, context, request) =>
      targetOf(body, context, request).getPrompt(
        body.server,
        body.name,
        body.arguments ?? body.args,
        limitsOf(body, request),
      ),
    ),
  ],
  [
    'complete',
    handler('complete', shapes.complete, async (body, context, request) => {
      const { ref, argument, context: completion } = body;
      const params: JsonObject = { ref, argument, ...(completion === undefined ? {} : { context: completion }) };
      return targetOf(body, context, request).complete(body.server, params, limitsOf(body, request));
    }),
  ],
  ['subscribeResource', subscription('subscribeResource')],
  ['unsubscribeResource', subscription('unsubscribeResource')],
  [
    'status',
    handler('status', shapes.status, async (body, { thread }, { signal }) => thread.status({ ...body, signal })),
  ],
  ['respond', handler('respond', shapes.respond, respond)],
  ['replace', handler('replace', shapes.replace, replace)],
  [
    'restartServer',
    handler('restartServer', shapes.restartServer, async ({ server }, { thread }) => {
      await thread.restartServer(server);
      return { state: thread.snapshot().servers.find((entry) => entry.name === server)?.state ?? 'closed' };
    }),
  ],
  [
    'authorize',
    handler('authorize', shapes.authorize, async ({ server, ...request }, { thread }, { signal }) => {
      await thread.authorize(server, { ...request, signal });
      return {};
    }),
  ],
  [
    'finishAuthorization',
    handler('finishAuthorization', shapes.finishAuthorization, async ({ url }, { thread }) =>
      thread.finishAuthorization(url),
    ),
  ],
  [
    'setRoots',
    handler('setRoots', shapes.setRoots, async ({ roots }, { thread }) => {
      thread.setRoots(roots);
      return Promise.resolve({});
    }),
  ],
  ['snapshot', handler('snapshot', shapes.nothing, async (_, { thread }) => Promise.resolve(thread.snapshot()))],
  [
    'runTurn',
    async () =>
      Promise.reject(
        new HoldfastError(
          'unsupported',
          'This version has no model behind the JSON-lines host, so it runs no turns. Call your model yourself, with beginStep and callTool.',
        ),
      ),
  ],
  [
    'close',
    async (_, context) => {
      await context.close('the host closed the thread');
      return {};
    },
  ],
]);

/** Makes a handler that checks the body first. */
function handler<TShape extends z.ZodType>(
  name: string,
  shape: TShape,
  run: (body: z.infer<TShape>, context: RequestContext, request: OpenRequest) => Promise<unknown>,
): RequestHandler {
  return async (line, context, request) => run(parseBody(shape, name, line.body), context, request);
}

function listing(
  name: string,
  run: (target: ServerRequests, server: string, options: ListOptions) => Promise<JsonObject>,
): RequestHandler {
  return handler(name, shapes.list, async (body, context, request) => {
    const { cursor, all } = body;
    const options = {
      ...limitsOf(body, request),
      ...(cursor === undefined ? {} : { cursor }),
      ...(all === undefined ? {} : { all }),
    };
    return run(targetOf(body, context, request), body.server, options);
  });
}

function subscription(name: 'subscribeResource' | 'unsubscribeResource'): RequestHandler {
  return handler(name, shapes.subscription, async (body, { thread }, request) => {
    await thread[name](body.server, body.uri, limitsOf(body, request));
    return {};
  });
}

function targetOf(body: { readonly step?: string }, context: RequestContext, request: OpenRequest): ServerRequests {
  if (body.step === undefined) return context.thread;
  request.step = body.step;
  return context.step(body.step);
}

function limitsOf(
  { timeoutMs, fresh }: { readonly timeoutMs?: number; readonly fresh?: boolean },
  { signal }: OpenRequest,
): { readonly signal: AbortSignal; readonly timeoutMs?: number; readonly fresh?: boolean } {
  return {
    signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(fresh === undefined ? {} : { fresh }),
  };
}

async function callTool(
  body: z.infer<typeof shapes.callTool>,
  context: RequestContext,
  request: OpenRequest,
): Promise<unknown> {
  const step = context.step(body.step);
  const args = jsonObject.optional().safeParse(body.args);
  if (!args.success) {
    const got = nameOf(body.args);
    const issues = [{ path: '/args', message: `expected an object or nothing, got ${got}` }];
    throw new HoldfastError(
      'invalid_arguments',
      `Tool "${body.name}": expected "args" to be an object or left out, got ${got}. Send an object.`,
      { issues, outcome: 'not-sent' },
    );
  }
  request.step = body.step;
  return step.callTool(body.name, args.data, { ...limitsOf(body, request), callId: request.id.value });
}

async function respond(body: z.infer<typeof shapes.respond>, { thread }: RequestContext): Promise<RespondOutcome> {
  const answer = answerShape.safeParse(body.answer, { error: issueInWords });
  // What is wrong with an answer is for the person who gave it: an outcome, never an error (SPEC EL-3).
  if (!answer.success) return { status: 'invalid', issues: issuesOf(answer.error) };
  return thread.respond(body.token, answer.data);
}

async function replace(
  body: z.infer<typeof shapes.replace>,
  context: RequestContext,
  { signal }: OpenRequest,
): Promise<unknown> {
  const { servers, files, publish } = body;
  const options = { signal, ...(publish === undefined ? {} : { publish }) };
  if (files !== undefined) {
    if (servers !== undefined)
      throw invalidArgument('replace', [{ path: '', message: 'expected "servers" or "files", got both' }]);
    return context.replacements.replace(async () => readServers(files, context), options);
  }
  if (!isObject(servers))
    throw invalidArgument('replace', [
      {
        path: '/servers',
        message:
          servers === undefined
            ? 'expected "servers" or "files", got neither'
            : `expected an object of server name to configuration, got ${nameOf(servers)}`,
      },
    ]);
  const checked = parseServerMap(servers, { onWarning: (warning) => context.warn(warning) });
  return context.replacements.replace(() => ({ servers: checked }), options);
}

async function readServers(files: readonly string[], context: RequestContext): Promise<RuntimeServers> {
  const config = await context.readFiles(files);
  for (const warning of config.warnings) context.warn(warning);
  if (config.policy !== undefined || config.limits !== undefined) {
    context.warn({
      code: 'policy_kept',
      message:
        'Policy and limits hold for the whole thread: those of the new files are not used. Start another host for them.',
    });
  }
  const { servers, misconfigured, provenance, secrets } = config;
  return { servers, misconfigured, provenance, secrets };
}
