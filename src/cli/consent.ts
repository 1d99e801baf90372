/**
 * Commands that stand in configuration files, on the command line: run after a yes, asked for once a command and file, or
 * with `--allow-commands`. Never in silence (SPEC CA-3).
 */
import { confirm, isCancel, note } from '@clack/prompts';
import type { AskedCommand, CommandRunner } from '../config/index.ts';
import { HoldfastError } from '../index.ts';
import { runCommandLine } from './run-command.ts';
import { oneLine, plain, type Terminal } from './terminal.ts';

type AskedAt = Pick<Terminal, 'input' | 'output' | 'errors' | 'isInteractive'>;

/** What consent is decided by. */
export interface ConsentOptions {
  /** Where a person can be asked. Without one nobody is. */
  readonly terminal?: AskedAt;
  /** `--allow-commands`. */
  readonly isAllowed: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The consent given so far. */
export interface Consent {
  /** Runs what was consented to. `canAsk`: a person may be asked now. */
  runner(options: { readonly canAsk: boolean; readonly signal: AbortSignal }): CommandRunner;
}

/** The answers are kept while the program runs: reading the same files again asks nothing again. */
export function createConsent({ terminal, isAllowed, env }: ConsentOptions): Consent {
  const answers = new Map<string, boolean>();
  return {
    runner:
      ({ canAsk, signal }) =>
      async (asked) => {
        const { file, command } = asked;
        const key = `${file}\n${command}`;
        let answer = isAllowed ? true : answers.get(key);
        if (answer === undefined && canAsk && terminal?.isInteractive === true) {
          answer = await ask(asked, terminal, signal);
          answers.set(key, answer);
        }
        if (answer !== true)
          throw new HoldfastError('not_approved', 'Start with "--allow-commands", or set a variable instead.');
        return runCommandLine(command, { file, env, signal });
      },
  };
}

async function ask(
  { command, file, server, purpose }: AskedCommand,
  { input, output, errors }: AskedAt,
  signal: AbortSignal,
): Promise<boolean> {
  // What is asked is no result.
  const shared = { input, output: errors.isTTY === true ? errors : output, signal };
  const use = purpose === 'headers' ? 'headers' : 'a value';
  note(plain(command), `"${oneLine(file, 200)}" wants to run this for ${use} of "${oneLine(server, 60)}"`, shared);
  const answer = await confirm({ ...shared, message: 'Run it?', initialValue: false });
  return !isCancel(answer) && answer;
}
