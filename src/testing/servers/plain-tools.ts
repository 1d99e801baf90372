/** Built-in tools that return, wait, fail or change the server. */
import type { LoggingLevel } from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import { logLevels } from '../../domain/config.ts';
import type { ScriptedTool } from './tool.ts';
import { aborted, failure, json, text } from './tool.ts';
import { plainTool } from './stage.ts';

const string = { type: 'string' };
const number = { type: 'number' };

export const plainTools = {
  echo: {
    description: 'Returns `text`.',
    properties: { text: string },
    annotations: { readOnlyHint: true },
    run: ({ args }) => text(args.string('text', '')),
  },
  readOnly: {
    description: 'Returns `text`; says that it only reads.',
    properties: { text: string },
    annotations: { readOnlyHint: true },
    run: ({ args }) => text(args.string('text', 'read')),
  },
  destructive: {
    description: 'Returns `text`; says that it destroys.',
    properties: { text: string },
    annotations: { readOnlyHint: false, destructiveHint: true },
    run: ({ args }) => text(args.string('text', 'destroyed')),
  },
  idempotent: {
    description: 'Parks under `key` if there is one, then returns `text`; says that it may be repeated.',
    properties: { text: string, key: string },
    annotations: { readOnlyHint: false, idempotentHint: true },
    run: async ({ args, ctx, stage, number: call }) => {
      const key = args.string('key', '');
      if (key !== '') await stage.park(key, { call, signal: ctx.mcpReq.signal });
      return text(args.string('text', 'done'));
    },
  },
  count: {
    description: 'Returns how often `tool` was called in this process.',
    properties: { tool: string },
    annotations: { readOnlyHint: true },
    run: ({ args, stage }) => text(String(stage.journal.calls(args.string('tool', 'count')))),
  },
  slow: {
    description: 'Returns after `ms` milliseconds.',
    properties: { ms: number },
    run: async ({ args, ctx }) => {
      const ms = args.number('ms', 100);
      let timer: NodeJS.Timeout | undefined;
      const elapsed = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([elapsed, aborted(ctx.mcpReq.signal)]);
      clearTimeout(timer);
      return text(`slept ${ms} ms`);
    },
  },
  hang: {
    description: 'Never answers.',
    run: async ({ ctx }) => {
      await aborted(ctx.mcpReq.signal);
      return failure('The call was given up.');
    },
  },
  park: {
    description: 'Stays open until `release` is called with the same `key`; returns the value given there.',
    properties: { key: string },
    run: async ({ args, ctx, stage, number: call }) => {
      const value = await stage.park(args.string('key', 'default'), { call, signal: ctx.mcpReq.signal });
      return typeof value === 'string' || value === undefined ? text(value ?? 'released') : json(value);
    },
  },
  awaitParked: {
    description: 'Returns once a call is parked under `key`.',
    properties: { key: string },
    annotations: { readOnlyHint: true },
    run: async ({ args, ctx, stage }) => {
      await Promise.race([stage.untilParked(args.string('key', 'default')), aborted(ctx.mcpReq.signal)]);
      return text('parked');
    },
  },
  release: {
    description: 'Ends the calls parked under `key`; they return `value`.',
    properties: { key: string, value: {} },
    run: ({ args, stage }) => {
      stage.release(args.string('key', 'default'), args.all['value']);
      return text('released');
    },
  },
  progress: {
    description:
      'Sends `steps` progress notifications, if the call asks for them; then parks under `key`, if there is one; returns.',
    properties: { steps: number, key: string },
    run: async ({ args, ctx, stage, number: call }) => {
      const steps = args.number('steps', 3);
      const progressToken = ctx.mcpReq._meta?.progressToken;
      if (progressToken !== undefined) {
        for (let progress = 1; progress <= steps; progress++) {
          const params = { progressToken, progress, total: steps, message: `step ${progress}` };
          await ctx.mcpReq.notify({ method: 'notifications/progress', params });
        }
      }
      const key = args.string('key', '');
      if (key !== '') await stage.park(key, { call, signal: ctx.mcpReq.signal });
      return text('done');
    },
  },
  log: {
    description: 'Sends a log message, if the client asked for its `level` (default info): `data`, from `logger`.',
    properties: { data: {}, logger: string, level: string },
    run: async ({ args, ctx }) => {
      await ctx.mcpReq.log(
        parseLevel(args.string('level', 'info')),
        args.all['data'] ?? 'hello',
        args.string('logger', 'scripted'),
      );
      return text('logged');
    },
  },
  addTool: {
    description: 'Adds a tool called `name` and says that the list changed.',
    properties: { name: string },
    run: async ({ args, stage }) => {
      await stage.addTool(plainTool(args.string('name', 'added')));
      return text('added');
    },
  },
  removeTool: {
    description: 'Removes the tool called `name` and says that the list changed.',
    properties: { name: string },
    run: async ({ args, stage }) => {
      await stage.removeTool(args.string('name', 'added'));
      return text('removed');
    },
  },
  updateResource: {
    description: 'Says that the resource `uri` changed.',
    properties: { uri: string },
    run: async ({ args, stage }) => {
      const uri = args.string('uri', 'test://static');
      await stage.publish((publisher) => publisher.resourceUpdated(uri));
      return text('updated');
    },
  },
  fail: {
    description: 'Returns a result with `isError`.',
    properties: { text: string },
    run: ({ args }) => failure(args.string('text', 'It went wrong.')),
  },
  throwError: {
    description: 'Answers with a JSON-RPC error of `code`, `message` and `data`.',
    properties: { code: number, message: string, data: {} },
    run: ({ args }) => {
      throw new ProtocolError(
        args.number('code', -32_603),
        args.string('message', 'Thrown by the tool.'),
        args.all['data'],
      );
    },
  },
  badResult: {
    description: 'Answers with `result` exactly as given. Default: content that is no list.',
    properties: { result: {} },
    run: ({ args, replaceResult }) => {
      replaceResult((result) => ('result' in args.all ? args.all['result'] : { ...result, content: 'no list' }));
      return text('');
    },
  },
} as const satisfies Readonly<Record<string, ScriptedTool>>;

function parseLevel(given: string): LoggingLevel {
  return logLevels.find((level) => level === given) ?? 'info';
}
