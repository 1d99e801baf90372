/** The built-in tool that becomes a task, and the requests about tasks, in both eras (SPEC ER-3). */
import { randomUUID } from 'node:crypto';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY, ProtocolError } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { messageOf } from '../../domain/errors.ts';
import { isRecord, toJson } from '../../domain/json.ts';
import type { JsonObject } from '../../domain/json.ts';
import { relatedTaskKey, tasksExtension } from '../../domain/task.ts';
import type { Era } from '../../domain/snapshot.ts';
import { formParams, noTimeoutMs } from './asking-tools.ts';
import { ScriptedTask } from './scripted-task.ts';
import type { TaskQuestion } from './scripted-task.ts';
import type { Stage } from './stage.ts';
import type { ScriptedArgs, ScriptedCall, ScriptedTool } from './tool.ts';
import { text } from './tool.ts';

const string = { type: 'string' };
const number = { type: 'number' };
const boolean = { type: 'boolean' };

export const taskTools = {
  task: {
    description:
      'Becomes a task. It first asks `questions` forms at once (`asks`: "form", "sampling" or "roots"), with `message` as its ' +
      'status message; then works until it was asked after `steps` times, and until `release` is called with its `key`, if ' +
      'there is one. It brings the answers, or the value of the release, or `text`; `isError` marks the result. ' +
      '`error` (`{ code, message }`) fails it instead, `givesUp` cancels it. `forgets`: how often it can be asked after ' +
      'before the server forgets it. `ttlMs`, `pollMs` (100): what the server says of its time. `tells`: changes are told. ' +
      'Legacy: it has to be called as a task.',
    properties: {
      key: string,
      text: string,
      message: string,
      questions: number,
      asks: string,
      steps: number,
      forgets: number,
      ttlMs: number,
      pollMs: number,
      error: { type: 'object' },
      isError: boolean,
      givesUp: boolean,
      tells: boolean,
    },
    taskSupport: 'required',
    run: (call) => {
      const { args, era, stage } = call;
      if (!mayBeTask(call))
        throw new ProtocolError(era === 'legacy' ? -32_601 : -32_021, 'This tool has to be called as a task.');
      const task: ScriptedTask = new ScriptedTask({
        id: randomUUID(),
        call: call.number,
        era,
        args,
        question: questionOf(args),
        changed: () => {
          if (args.flag('tells')) void stage.publish((publisher) => publisher.taskChanged(detailed(task)));
        },
      });
      stage.tasks.set(task.id, task);
      const key = args.string('key', '');
      if (key !== '') void park(stage, key, task);
      call.replaceResult(() => (era === 'modern' ? { resultType: 'task', ...task.record() } : { task: task.record() }));
      return text('');
    },
  },
} as const satisfies Readonly<Record<string, ScriptedTool>>;

/** What a server says of tasks in its handshake. */
export function taskCapabilities(era: Era): JsonObject {
  return era === 'modern'
    ? { extensions: { [tasksExtension]: {} } }
    : { tasks: { cancel: {}, requests: { tools: { call: {} } } } };
}

/** Answers the requests about tasks on one connection. */
export function serveTasks({ server }: McpServer, stage: Stage, era: Era): void {
  const params = z.looseObject({ taskId: z.string() });
  const find = (method: string, taskId: string): ScriptedTask => {
    stage.journal.add({ kind: 'task', tool: method, key: taskId });
    const task = stage.tasks.get(taskId);
    if (method === 'tasks/get') task?.look();
    if (task?.isKnown !== true) throw new ProtocolError(-32_602, 'Task not found');
    return task;
  };
  server.setRequestHandler('tasks/get', { params }, ({ taskId }) => {
    const task = find('tasks/get', taskId);
    return era === 'modern' ? detailed(task) : task.record();
  });
  server.setRequestHandler('tasks/cancel', { params }, ({ taskId }) => {
    const task = find('tasks/cancel', taskId);
    stage.journal.add({ kind: 'cancelled', tool: 'task', call: task.call });
    task.cancel();
    return era === 'modern' ? {} : task.record();
  });
  if (era === 'modern') {
    server.setRequestHandler('tasks/update', { params }, ({ taskId }, ctx) => {
      const task = find('tasks/update', taskId);
      // The SDK takes the answers out of the parameters, wherever they come.
      const responses: Readonly<Record<string, unknown>> = ctx.mcpReq.inputResponses ?? {};
      for (const [key, value] of Object.entries(responses)) {
        stage.journal.add({ kind: 'answered', call: task.call, value });
        task.answer(key, value);
      }
      return {};
    });
    return;
  }
  server.setRequestHandler('tasks/result', { params }, async ({ taskId }, ctx) => {
    const task = find('tasks/result', taskId);
    await Promise.all(task.openKeys.map((key) => askForTask(stage, task, key, ctx)));
    await task.ended();
    if (task.error !== undefined) throw new ProtocolError(task.error.code, task.error.message);
    return { ...task.result, _meta: { [relatedTaskKey]: { taskId } } };
  });
}

async function askForTask(stage: Stage, task: ScriptedTask, key: string, ctx: ServerContext): Promise<void> {
  const { method, params } = task.question;
  stage.journal.add({ kind: 'asked', call: task.call, value: task.question });
  const request = { method, ...(params === undefined ? {} : { params }) };
  try {
    const value: unknown = await ctx.mcpReq.send(request, { timeout: noTimeoutMs, signal: ctx.mcpReq.signal });
    stage.journal.add({ kind: 'answered', call: task.call, value });
    task.answer(key, value);
  } catch (error) {
    // Nobody waits any more, or the client refused: without the answer there is no result.
    if (!ctx.mcpReq.signal.aborted) task.fail(messageOf(error));
  }
}

async function park(stage: Stage, key: string, task: ScriptedTask): Promise<void> {
  try {
    task.release(await stage.park(key, { call: task.call, signal: task.cancelled.signal }));
  } catch {
    // Cancelled: it will not be released any more.
  }
}

/** The task with what goes with its status, as the extension gives it. */
function detailed(task: ScriptedTask): JsonObject {
  const record = task.record();
  switch (task.status) {
    case 'input_required':
      return { ...record, inputRequests: toJson(task.inputRequests) };
    case 'completed':
      return { ...record, result: { resultType: 'complete', ...task.result } };
    case 'failed':
      return { ...record, error: { code: -32_603, message: '', ...task.error } };
    case 'working':
    case 'cancelled':
      return record;
  }
}

function questionOf(args: ScriptedArgs): TaskQuestion {
  switch (args.string('asks', 'form')) {
    case 'sampling': {
      const content = { type: 'text', text: 'Say hello.' };
      return { method: 'sampling/createMessage', params: { messages: [{ role: 'user', content }], maxTokens: 100 } };
    }
    case 'roots':
      return { method: 'roots/list' };
    default:
      return { method: 'elicitation/create', params: { ...formParams('What is your name?', undefined) } };
  }
}

/** Whether the client lets a call become a task: legacy asks for it, modern says that it can take one. */
function mayBeTask({ params, era, ctx }: ScriptedCall): boolean {
  if (era === 'legacy') return isRecord(params['task']);
  const envelope: unknown = ctx.mcpReq.envelope;
  const capabilities = isRecord(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined;
  const extensions = isRecord(capabilities) ? capabilities['extensions'] : undefined;
  return isRecord(extensions) && isRecord(extensions[tasksExtension]);
}
