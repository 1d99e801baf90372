/** The commands and options of `holdfast` (SPEC CL-1, CL-2), and the exit code each comes to. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type ApprovalMode, approvalModes, type Thread, type ThreadOptions } from '../index.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { askingCommand, candidatesFor, type CompletedShell, completedShells, completionScript } from './completion.ts';
import { type Consent, createConsent } from './consent.ts';
import { runDoctor } from './doctor/doctor-command.ts';
import { type Ending, listenForEnd } from './ending.ts';
import { type HostCommandOptions, type HostIo, runHost } from './jsonl/host-command.ts';
import { type ImportCommandOptions, runImport } from './import-command.ts';
import { type LoginIo, runLogin, runLogout } from './login-command.ts';
import { loadConfig, rootsOf, withApproval } from './load-config.ts';
import { type OneShot, runCall, runTools } from './one-shot.ts';
import { details, runStatus, type StatusCommandOptions } from './status-command.ts';
import { runShell } from './shell/shell.ts';
import { describeError } from './shell/render-end.ts';
import { createTerminal, plain, type Terminal, type TerminalStreams } from './terminal.ts';
import { exitCodes, UsageError } from './usage-error.ts';

/** What surrounds the program: the process, or a test's streams. */
export interface ProgramIo extends TerminalStreams {
  readonly directory: string;
  readonly version: string;
  readonly createThread: (options: ThreadOptions) => Thread;
  readonly onSignal: HostIo['onSignal'];
  /** Stdout for the JSON-lines host. */
  readonly openStdout: () => HostIo['stdout'];
}

interface CommonOptions {
  readonly config: readonly string[];
  readonly approval?: ApprovalMode;
  readonly root: readonly string[];
  readonly json?: boolean;
  readonly watch: boolean;
  readonly allowCommands: boolean;
}

/** Runs one command line (without `node` and the script) and resolves with the exit code. Never rejects. */
export async function runProgram(args: readonly string[], io: ProgramIo): Promise<number> {
  const terminal = createTerminal(io);
  const state: { code: number } = { code: exitCodes.ok };
  const program = programOf(io, terminal, (code) => {
    state.code = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return state.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    terminal.errors.write(
      `holdfast: ${error instanceof UsageError ? plain(error.message) : describeError(error, terminal)}\n`,
    );
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
  }
}

function programOf(io: ProgramIo, terminal: Terminal, done: (code: number) => void): Command {
  const program = new Command('holdfast')
    .description('The MCP side of an agent. Without a command: a shell over the servers configured here.')
    .version(io.version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => void io.output.write(text), writeErr: (text) => void io.errors.write(text) })
    .showHelpAfterError('Run "holdfast --help" for the commands.');
  withCommon(program).action(async (options: CommonOptions) => done(await shell(options, io, terminal)));
  const once = async (command: Command, run: (shot: OneShot) => Promise<number>) =>
    done(await oneShot(command.optsWithGlobals(), io, terminal, run));

  program
    .command('tools')
    .description('List the tools.')
    .argument('[server]', 'only those of one server')
    .option('--json', 'print JSON')
    .action(async (server: string | undefined, _: unknown, command: Command) =>
      once(command, async (shot) => runTools(server, shot)),
    );

  program
    .command('call')
    .description('Call a tool.')
    .argument('<tool>', 'its name, or server/tool')
    .argument('[arguments...]', 'one JSON object, or key=value words')
    .option('--json', 'print JSON')
    .action(async (tool: string, words: string[], _: unknown, command: Command) =>
      once(command, async (shot) => runCall(tool, words, shot)),
    );

  program
    .command('status')
    .description('Start every server and say how it is.')
    .argument('[servers...]', 'only these')
    .addOption(new Option('--detail <level>', 'how much to say').choices(details))
    .option('--json', 'print JSON')
    .action(async (servers: string[], options: Omit<StatusCommandOptions, 'servers'>, command: Command) =>
      once(command, async (shot) => runStatus({ ...options, servers }, shot)),
    );

  program
    .command('doctor')
    .description('Start every server, and say of each what is right, or how to mend it.')
    .argument('[servers...]', 'only these')
    .option('--json', 'print JSON')
    .addOption(new Option('--timeout <ms>', 'how long each may take to start').argParser(wholeMs))
    .action(async (servers: string[], _: unknown, command: Command) =>
      done(await doctor(servers, command.optsWithGlobals(), io, terminal)),
    );

  program
    .command('login')
    .description('Sign in to a server that is reached over HTTP.')
    .argument('<server>', 'its name')
    .addOption(
      new Option('--scope <scope>', 'ask for this scope; may be given again').default([]).argParser(collectWords),
    )
    .option('--json', 'print JSON, one object a line')
    .action(async (server: string, { scope }: { scope: readonly string[] }, command: Command) =>
      done(await credentials(command.optsWithGlobals(), io, terminal, (given) => runLogin(server, scope, given))),
    );

  program
    .command('logout')
    .description('Remove the credentials of a server.')
    .argument('<server>', 'its name')
    .option('--json', 'print JSON, one object a line')
    .action(async (server: string, _: unknown, command: Command) =>
      done(await credentials(command.optsWithGlobals(), io, terminal, (given) => runLogout(server, given))),
    );

  program
    .command('import')
    .description('Show what configuration files of any tool have; without files, of the usual places of this machine.')
    .argument('[files...]', 'files of any known tool')
    .option('--json', 'print JSON')
    .option('--output <file>', 'write everything as one holdfast.json')
    .action(async (files: string[], _: unknown, command: Command) => {
      const options = command.opts<Omit<ImportCommandOptions, 'files'>>();
      const { directory, env } = io;
      done(await runImport({ ...options, files }, { directory, env, terminal }));
    });

  program
    .command('completion')
    .description('Print what completes commands and servers in a shell: eval "$(holdfast completion bash)".')
    .addArgument(new Argument('<shell>', 'which one').choices(completedShells))
    .action((name: CompletedShell) => void io.output.write(`${completionScript(name)}\n`));

  program
    .command(askingCommand, { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      for (const candidate of await candidatesFor(program, words, io)) io.output.write(`${candidate}\n`);
    });

  addHost(program, io, done);
  return program;
}

function addHost(program: Command, io: ProgramIo, done: (code: number) => void): void {
  program
    .command('host')
    .description('Serve a thread over JSON lines on stdin and stdout, for a host in any language.')
    .option('--jsonl', 'one JSON object a line', false)
    .option('--sampling', 'offer sampling: each request becomes a question', false)
    .option('--store <file>', 'keep the thread in a file (not in this version)')
    .option('--thread <id>', 'open a kept thread again (not in this version)')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<HostCommandOptions>();
      const { input: stdin, directory, createThread, onSignal } = io;
      done(await runHost(options, { stdin, stdout: io.openStdout(), directory, createThread, onSignal }));
    });
}

function withCommon(command: Command): Command {
  return command
    .addOption(
      new Option('-c, --config <file>', 'a configuration file; may be given again')
        .default([], 'holdfast.json and .mcp.json here')
        .argParser(collect),
    )
    .addOption(new Option('--approval <mode>', 'which calls ask first').choices(approvalModes))
    .addOption(
      new Option('--root <directory>', 'a directory servers may work in; may be given again')
        .default([], 'none')
        .argParser(collect),
    )
    .option('--watch', 'follow the files as they change: for the shell and the host', false)
    .option('--allow-commands', 'run the commands that files have for values and headers', false);
}

function wholeMs(value: string): number {
  const ms = Number(value);
  if (!/^\d+$/.test(value) || ms < 1 || ms > 2 ** 31 - 1)
    throw new InvalidArgumentError('Expected whole milliseconds from 1 to 2147483647.');
  return ms;
}

function collectWords(value: string, before: readonly string[]): readonly string[] {
  return [...before, ...value.split(/[\s,]+/).filter(Boolean)];
}

function collect(value: string, before: readonly string[]): readonly string[] {
  if (value === '') throw new InvalidArgumentError('Expected a path, got nothing.');
  return [...before, value];
}

async function open(
  options: CommonOptions,
  io: ProgramIo,
  terminal: Terminal,
  { consent, signal }: { readonly consent: Consent; readonly signal: AbortSignal },
): Promise<{ readonly thread: Thread; readonly config: ResolvedConfig }> {
  const roots = rootsOf(options.root);
  const runCommand = consent.runner({ canAsk: true, signal });
  const { config, unreadable } = await loadConfig(options.config, io.directory, runCommand);
  for (const error of unreadable) terminal.errors.write(`${describeError(error, terminal)}\n`);
  const { servers, misconfigured, provenance, secrets, limits } = config;
  const policy = withApproval(config.policy, options.approval);
  const thread = io.createThread({
    servers,
    misconfigured,
    provenance,
    secrets,
    ...(policy === undefined ? {} : { policy }),
    ...(limits === undefined ? {} : { limits }),
    ...(roots.length === 0 ? {} : { roots }),
  });
  return { thread, config };
}

async function shell(options: CommonOptions, io: ProgramIo, terminal: Terminal): Promise<number> {
  const consent = createConsent({ terminal, isAllowed: options.allowCommands, env: io.env });
  const ending = listenForEnd(io.onSignal, terminal);
  const { thread, config } = await open(options, io, terminal, { consent, signal: ending.signal });
  ending.stop();
  if (ending.code !== undefined) {
    await thread.close();
    return ending.code;
  }
  return runShell({
    thread,
    directory: io.directory,
    config,
    terminal,
    version: io.version,
    watch: options.watch,
    ...(options.approval === undefined ? {} : { approval: options.approval }),
    consent,
    readFiles: async (files, runCommand) => {
      const read = await loadConfig(files.length === 0 ? options.config : files, io.directory, runCommand);
      // Nothing is replaced by half of what was asked for.
      for (const error of read.unreadable) throw error;
      return read.config;
    },
    onSignal: io.onSignal,
  });
}

async function oneShot(
  options: CommonOptions,
  io: ProgramIo,
  terminal: Terminal,
  run: (shot: OneShot) => Promise<number>,
): Promise<number> {
  refuseWatch(options);
  const consent = createConsent({ terminal, isAllowed: options.allowCommands, env: io.env });
  return untilEnded(io, terminal, async ({ signal }) => {
    const { thread, config } = await open(options, io, terminal, { consent, signal });
    try {
      for (const warning of config.warnings)
        terminal.errors.write(`${terminal.paint('yellow', plain(warning.message))}\n`);
      return await run({ thread, terminal, json: options.json === true, signal });
    } finally {
      await thread.close({ reason: 'the command is done' });
    }
  });
}

async function doctor(
  servers: readonly string[],
  options: CommonOptions & { readonly timeout?: number },
  io: ProgramIo,
  terminal: Terminal,
): Promise<number> {
  refuseWatch(options);
  const { config, timeout } = options;
  const { directory, env, createThread } = io;
  const roots = rootsOf(options.root);
  const consent = createConsent({ terminal, isAllowed: options.allowCommands, env });
  return untilEnded(io, terminal, async ({ signal }) =>
    runDoctor(
      {
        servers,
        config,
        roots,
        json: options.json === true,
        ...(timeout === undefined ? {} : { timeoutMs: timeout }),
      },
      { directory, env, terminal, createThread, signal, runCommand: consent.runner({ canAsk: true, signal }) },
    ),
  );
}

/** What signs in and out works with the servers of the configuration, and starts none of the others. */
async function credentials(
  options: CommonOptions,
  io: ProgramIo,
  terminal: Terminal,
  run: (given: LoginIo) => Promise<number>,
): Promise<number> {
  refuseWatch(options);
  const consent = createConsent({ terminal, isAllowed: options.allowCommands, env: io.env });
  return untilEnded(io, terminal, async ({ signal }) => {
    const runCommand = consent.runner({ canAsk: true, signal });
    const { config, unreadable } = await loadConfig(options.config, io.directory, runCommand);
    for (const error of unreadable) terminal.errors.write(`${describeError(error, terminal)}\n`);
    const { servers, secrets } = config;
    return run({ servers, secrets, terminal, json: options.json === true, createThread: io.createThread, signal });
  });
}

/** The exit code of the work, or of the signal that came meanwhile. */
async function untilEnded(
  io: ProgramIo,
  terminal: Terminal,
  work: (ending: Ending) => Promise<number>,
): Promise<number> {
  const ending = listenForEnd(io.onSignal, terminal);
  try {
    const code = await work(ending);
    return ending.code ?? code;
  } finally {
    ending.stop();
  }
}

function refuseWatch({ watch }: CommonOptions): void {
  if (watch) throw new UsageError('Expected "--watch" with the shell or the host, got it with another command.');
}
