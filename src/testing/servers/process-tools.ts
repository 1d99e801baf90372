/** Built-in tools that do something to the process, or to the connections, of the server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ScriptedTool } from './tool.ts';
import { failure, json, text } from './tool.ts';

const number = { type: 'number' };
const boolean = { type: 'boolean' };

/** Says it is up on its fourth pipe, then stays for ever. */
const grandchild = `
if (process.argv.includes('deaf')) for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
setInterval(() => {}, 1e9);
require('node:fs').writeSync(3, 'up');
require('node:fs').closeSync(3);
`;

export const processTools = {
  crash: {
    description: 'Ends the process with `code`, or drops every connection, without an answer.',
    properties: { code: number },
    run: ({ args, stage, carrier, number: call }) => {
      stage.journal.add({ kind: 'crashed', call });
      carrier.crash(args.number('code', 1));
      // Never seen by the client: what would carry it is gone.
      return new Promise<never>(() => undefined);
    },
  },
  pid: {
    description: 'Returns the process id.',
    annotations: { readOnlyHint: true },
    run: () => text(String(process.pid)),
  },
  env: {
    description: 'Returns the environment variables called `names` as JSON; without names, the names of all.',
    properties: { names: { type: 'array', items: { type: 'string' } } },
    annotations: { readOnlyHint: true },
    run: ({ args }) => {
      const names = args.list('names').filter((name) => typeof name === 'string');
      if (names.length === 0) return json(Object.keys(process.env));
      return json(Object.fromEntries(names.map((name) => [name, process.env[name] ?? null])));
    },
  },
  flood: {
    description: 'Writes `lines` lines of `bytes` bytes to stdout, or to stderr with `stderr`. Children only.',
    properties: { lines: number, bytes: number, stderr: boolean },
    run: async ({ args, carrier }) => {
      if (carrier.kind !== 'child') return failure('Only a child process has pipes to flood.');
      const stream = args.flag('stderr') ? process.stderr : process.stdout;
      const line = `${'x'.repeat(Math.max(0, args.number('bytes', 80) - 1))}\n`;
      for (let count = args.number('lines', 1000); count > 0; count--) {
        if (!stream.write(line)) await once(stream, 'drain');
      }
      return text('flooded');
    },
  },
  fork: {
    description:
      'Starts a process that stays for ever and returns its pid. `detached`: in a session of its own. `deaf`: ignores SIGTERM. ' +
      '`inherit`: holds on to stdout and stderr. Children only.',
    properties: { detached: boolean, deaf: boolean, inherit: boolean },
    run: async ({ args, carrier }) => {
      if (carrier.kind !== 'child') return failure('Only a child process has grandchildren.');
      const stdio = args.flag('inherit') ? 'inherit' : 'ignore';
      const child = spawn(process.execPath, ['-e', grandchild, ...(args.flag('deaf') ? ['deaf'] : [])], {
        detached: args.flag('detached'),
        stdio: ['ignore', stdio, stdio, 'pipe'],
      });
      child.unref();
      const ready = child.stdio[3];
      if (ready === null || ready === undefined || child.pid === undefined)
        return failure('The grandchild did not start.');
      await once(ready, 'data');
      ready.destroy();
      return text(String(child.pid));
    },
  },
} as const satisfies Readonly<Record<string, ScriptedTool>>;
