/** Makes the SDK server of one connection from a script and its stage. */
import type {
  CallToolResult,
  InputRequiredResult,
  RequestId,
  ServerContext,
  Transport,
} from '@modelcontextprotocol/server';
import { McpServer, ProtocolError } from '@modelcontextprotocol/server';
import { messageOf } from '../../domain/errors.ts';
import type { Era } from '../../domain/snapshot.ts';
import type { ListedTool } from '../../domain/tool.ts';
import { askingTools, formParams, noTimeoutMs, stateCodec } from './asking-tools.ts';
import { addContent } from './content.ts';
import { plainTools } from './plain-tools.ts';
import { processTools } from './process-tools.ts';
import { serveTasks, taskCapabilities, taskTools } from './task-tools.ts';
import type { Publisher, Stage } from './stage.ts';
import { plainTool } from './stage.ts';
import type { Carrier, ScriptedCall, ScriptedTool } from './tool.ts';
import { aborted, json, ScriptedArgs } from './tool.ts';
import { scriptedToolNames } from './tool-names.ts';
import type { ScriptedToolName } from './tool-names.ts';

const builtIn: Readonly<Record<ScriptedToolName, ScriptedTool>> = {
  ...plainTools,
  ...askingTools,
  ...taskTools,
  ...processTools,
};

/** What a server of a script is made for. */
export interface ServerSite {
  readonly stage: Stage;
  readonly carrier: Carrier;
  readonly era: Era;
  /** Whether changes are told through this server's own connection. Default true. */
  readonly publishes?: boolean;
}

/** The SDK's server, able to send results the SDK would refuse. */
class ScriptedMcpServer extends McpServer {
  readonly replacements = new Map<RequestId, (result: Record<string, unknown>) => unknown>();

  override connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if (!('result' in message)) return send(message, options);
      const replace = this.replacements.get(message.id);
      this.replacements.delete(message.id);
      return send(replace === undefined ? message : lie(message, replace(message.result)), options);
    };
    return super.connect(transport);
  }
}

/** Makes the server of one connection (modern HTTP: of one request). */
export function createScriptedServer(site: ServerSite): McpServer {
  const { stage, carrier, era } = site;
  const { script } = stage;
  const server = new ScriptedMcpServer(
    { name: script.name ?? 'scripted', version: script.version ?? '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        ...taskCapabilities(era),
      },
      requestState: { verify: (state, ctx) => stateCodec.verify(state, ctx) },
      ...(script.instructions === undefined ? {} : { instructions: script.instructions }),
    },
  );
  const sdk = server.server;

  sdk.setRequestHandler('tools/list', async (request, ctx) => {
    stage.journal.add({ kind: 'listed' });
    const page = await listPage(stage, request.params?.cursor, ctx);
    server.replacements.set(ctx.mcpReq.id, (result) => ({ ...result, tools: page.tools }));
    return { ...script.keep, tools: [], ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) };
  });

  sdk.setRequestHandler('tools/call', async (request, ctx): Promise<CallToolResult | InputRequiredResult> => {
    const { name } = request.params;
    if (!listedTools(stage).some((tool) => tool.name === name))
      throw new ProtocolError(-32_602, `Unknown tool: ${name}`);
    const args = new ScriptedArgs(request.params.arguments);
    const call = stage.nextCall();
    const meta = ctx.mcpReq._meta;
    stage.journal.add({ kind: 'called', tool: name, call, args: args.all, ...(meta === undefined ? {} : { meta }) });
    const noteAbort = (): void => {
      stage.journal.add({ kind: 'cancelled', tool: name, call, value: messageOf(ctx.mcpReq.signal.reason) });
    };
    ctx.mcpReq.signal.addEventListener('abort', noteAbort, { once: true });
    try {
      const tool = isBuiltIn(name) ? builtIn[name] : undefined;
      if (tool === undefined) return json(args.all);
      const replaceResult: ScriptedCall['replaceResult'] = (replace) => {
        server.replacements.set(ctx.mcpReq.id, replace);
      };
      const { params } = request;
      return await tool.run({ args, params, ctx, era, stage, carrier, server, number: call, replaceResult });
    } finally {
      ctx.mcpReq.signal.removeEventListener('abort', noteAbort);
      stage.journal.add({ kind: 'ended', tool: name, call });
    }
  });

  serveTasks(server, stage, era);
  addContent(server, stage);
  sdk.oninitialized = () => {
    stage.journal.add({ kind: 'initialized' });
    if (script.askOnStart !== undefined) void askOnStart(server, stage);
  };
  const publisher = publisherOf(server, era);
  if (site.publishes !== false) stage.publishers.add(publisher);
  sdk.onclose = () => {
    stage.publishers.delete(publisher);
    stage.journal.add({ kind: 'closed' });
  };
  return server;
}

/** The tools the server has now. */
export function listedTools(stage: Stage): readonly ListedTool[] {
  const { script } = stage;
  const many = Array.from({ length: script.manyTools ?? 0 }, (_, index) => plainTool(`tool-${index}`));
  const all = [
    ...(script.tools ?? scriptedToolNames).map(describe),
    ...many,
    ...(script.extraTools ?? []),
    ...stage.addedTools.values(),
  ];
  return all.filter((tool) => !stage.removedTools.has(tool.name));
}

async function listPage(
  stage: Stage,
  cursor: string | undefined,
  ctx: ServerContext,
): Promise<{ tools: readonly ListedTool[]; nextCursor?: string }> {
  const { pageSize, endless, repeatedCursor, fails, hangs } = stage.script.listing ?? {};
  stage.listings += 1;
  if (hangs === true) await aborted(ctx.mcpReq.signal);
  if (fails === true || stage.listings <= (fails ?? 0))
    throw new ProtocolError(-32_603, 'The listing is not to be had.');
  const all = listedTools(stage);
  const from = Number(cursor ?? '0');
  const size = pageSize ?? (endless === true || repeatedCursor === true ? 1 : all.length);
  const next = from + size;
  const tools = all.slice(from, next);
  if (repeatedCursor === true) return { tools, nextCursor: String(size) };
  if (endless === true) {
    return { tools: tools.length > 0 ? tools : [plainTool(`endless-${from}`)], nextCursor: String(next) };
  }
  return next < all.length ? { tools, nextCursor: String(next) } : { tools };
}

function describe(name: ScriptedToolName): ListedTool {
  const { description, properties, required, annotations, taskSupport } = builtIn[name];
  return {
    name,
    description,
    inputSchema: { type: 'object', properties: properties ?? {}, ...(required === undefined ? {} : { required }) },
    ...(annotations === undefined ? {} : { annotations }),
    ...(taskSupport === undefined ? {} : { execution: { taskSupport } }),
  };
}

function isBuiltIn(name: string): name is ScriptedToolName {
  return Object.hasOwn(builtIn, name);
}

async function askOnStart(server: McpServer, stage: Stage): Promise<void> {
  const { askOnStart: question } = stage.script;
  const { message, schema } = question === undefined || question === true ? {} : question;
  const params = formParams(message ?? 'Who is there?', schema);
  stage.journal.add({ kind: 'asked', value: { method: 'elicitation/create', params } });
  try {
    const value: unknown = await server.server.request(
      { method: 'elicitation/create', params },
      { timeout: noTimeoutMs },
    );
    stage.journal.add({ kind: 'answered', value });
  } catch (error) {
    stage.journal.add({ kind: 'answered', value: { error: messageOf(error) } });
  }
}

function publisherOf({ server }: McpServer, era: Era): Publisher {
  return {
    toolsChanged: () => server.sendToolListChanged(),
    resourceUpdated: (uri) => server.sendResourceUpdated({ uri }),
    // A modern client that wants to hear of a task subscribes to it, which the SDK's server does not offer.
    taskChanged: (task) =>
      era === 'legacy' ? server.notification({ method: 'notifications/tasks/status', params: task }) : undefined,
    urlCompleted: (elicitationId) =>
      server.notification({ method: 'notifications/elicitation/complete', params: { elicitationId } }),
  };
}

/** Puts a result into a message that the SDK's types would not let in. */
function lie<TMessage>(message: TMessage, result: unknown): TMessage {
  return { ...message, result };
}
