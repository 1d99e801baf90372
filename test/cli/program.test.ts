/** The commands of `holdfast` in process, on streams that are no terminal. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createThread, type ServerMap } from 'holdfast';
import { scriptedServer } from 'holdfast/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { isRecord } from '../../src/domain/json.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-program-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

interface Run {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

async function run(args: readonly string[], servers: ServerMap = {}, input = ''): Promise<Run> {
  const streams = { output: new PassThrough(), errors: new PassThrough() };
  const stdin = new PassThrough();
  stdin.end(input);
  const code = await runProgram(args, {
    input: stdin,
    ...streams,
    env: {},
    directory,
    version: '1.2.3',
    createThread: (options) => createThread({ ...options, servers: { ...options.servers, ...servers } }),
    onSignal: () => () => undefined,
    openStdout: () => streams.output,
  });
  const read = (stream: PassThrough) => String(stream.read() ?? '');
  return { code, output: read(streams.output), errors: read(streams.errors) };
}

describe('usage', () => {
  test.each<[string[], RegExp]>([
    [['host'], /--jsonl/],
    [['host', '--jsonl', '--store', 'x.db'], /unsupported: .*"--store"/],
    [['host', '--jsonl', '--approval', 'never'], /approval/],
    [['host', '--jsonl', '--config', 'nowhere.json'], /nowhere\.json/],
    [['tools', '--root', 'nowhere'], /"--root"/],
    [['call'], /tool/],
    [['fly'], /too many arguments|unknown command/],
    [['tools', '--colour'], /--colour/],
  ])('CL-1 exits with 2 and says why for %j', async (args, message) => {
    const { code, output, errors } = await run(args);
    expect(errors).toMatch(message);
    expect(errors).not.toMatch(/\n\s+at /);
    expect(output).toBe('');
    expect(code).toBe(2);
  });

  test('CL-1 shows help and version, and exits with 0', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, output: '1.2.3\n', errors: '' });
    const { code, output } = await run(['host', '--help']);
    expect(code).toBe(0);
    expect(output).toMatch(/--sampling[\s\S]*--config/);
  });

  test('CA-1 names line and column of a file it cannot read', async () => {
    const file = join(directory, 'a.json');
    await writeFile(file, '{\n  "mcpServers": [}\n');
    const { code, errors } = await run(['tools', '--config', file]);
    expect(errors).toContain('line 2, column 18');
    expect(code).toBe(2);
  });
});

describe('one look, one call', () => {
  test('CL-1 lists tools for people and as JSON', async () => {
    await using server = scriptedServer({ tools: ['echo', 'fail'] });
    const { code, output } = await run(['tools'], { one: server.config });
    expect(code).toBe(0);
    expect(output).toMatch(/^one\n.*echo +Returns `text`\./);
    const json = await run(['tools', 'one', '--json'], { one: server.config });
    expect(JSON.parse(json.output)).toMatchObject({
      tools: [
        { server: 'one', tool: 'echo' },
        { server: 'one', tool: 'fail' },
      ],
    });
  });

  test('CL-1 knows no tools of a server that is not there, and names those that are', async () => {
    await using server = scriptedServer({});
    const { code, errors } = await run(['tools', 'nope'], { one: server.config });
    expect(code).toBe(2);
    expect(errors).toContain('Expected the name of a server, got "nope". There are "one".');
  });

  test('CL-1 calls a tool and prints its result alone', async () => {
    await using server = scriptedServer();
    expect(await run(['call', 'one/echo', 'text=hello world'], { one: server.config })).toEqual({
      code: 0,
      output: 'hello world\n',
      errors: '',
    });
    const json = await run(['call', 'echo', '{"text":"x"}', '--json'], { one: server.config });
    expect(JSON.parse(json.output)).toEqual({ content: [{ type: 'text', text: 'x' }] });
  });

  test('CL-1 exits with 1 for an error of the tool, of the call, and of its name', async () => {
    await using server = scriptedServer();
    const servers = { one: server.config };
    expect(await run(['call', 'fail'], servers)).toMatchObject({ code: 1, errors: '' });
    expect(await run(['call', 'throwError'], servers)).toMatchObject({ code: 1, output: '' });
    const unknown = await run(['call', 'ech'], servers);
    expect(unknown.code).not.toBe(0);
    expect(unknown.errors).toMatch(/Did you mean .*echo/);
    const json = await run(['call', 'throwError', '--json'], servers);
    expect(JSON.parse(json.output)).toHaveProperty('error.code');
  });

  test('CL-1 cancels a question that nobody is there to answer, and says so', async () => {
    await using server = scriptedServer();
    const { code, output, errors } = await run(['call', 'ask'], { one: server.config });
    expect(errors).toContain('What is your name?');
    expect(output).toContain('cancel');
    expect(code).toBe(0);
  });

  test('CL-1 shows servers with what is wrong, and exits with 1 when something is', async () => {
    await using server = scriptedServer();
    await writeFile(
      join(directory, 'holdfast.json'),
      '{"mcpServers":{"bad":{"command":"x","env":{"A":"${HOLDFAST_TEST_NOT_SET}"}}}}',
    );
    const { code, output } = await run(['status'], { one: server.config });
    expect(code).toBe(1);
    expect(output).toMatch(/one +ready/);
    expect(output).toMatch(/bad +misconfigured[\s\S]*HOLDFAST_TEST_NOT_SET/);
    const json: unknown = JSON.parse((await run(['status', '--json'], { one: server.config })).output);
    expect(isRecord(json) ? json['servers'] : undefined).toHaveLength(2);
  });
});

describe('the shell without a terminal', () => {
  test('CL-1 runs the commands it is given, one after the other', async () => {
    await using server = scriptedServer();
    const { code, output } = await run(
      [],
      { one: server.config },
      'tools\ncall echo text=first\ncall echo {"text":\ncall nothing\nstatus\nbogus\nquit\ncall echo text=never\n',
    );
    expect(code).toBe(0);
    expect(output).toContain('first');
    expect(output).toContain('Expected the arguments to be one JSON object');
    expect(output).toMatch(/Expected a tool, got "nothing"/);
    expect(output).toMatch(/Thread active, generation 1\./);
    expect(output).toMatch(/Expected a command, got "bogus"/);
    expect(output).not.toContain('never');
    expect(output).not.toMatch(/\n\s+at /);
  });

  test('CL-1 goes on after a question, since the next command may answer it', async () => {
    await using server = scriptedServer();
    const commands = 'call ask\nanswer 1 {"name":"Ada"}\nquestions\n';
    const { code, output } = await run([], { one: server.config }, commands);
    expect(code).toBe(0);
    expect(output).toMatch(
      /goes on in the background[\s\S]*Answer delivered\.[\s\S]*No open questions\.[\s\S]*ask ended:[\s\S]*Ada/,
    );
  });
});
