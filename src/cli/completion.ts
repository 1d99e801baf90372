/** Completion in a shell: the scripts that ask for it, and what may stand next (SPEC CL-1). */
import { resolve } from 'node:path';
import type { Command, Option } from 'commander';
import { findConfig, readConfig } from '../config/index.ts';

/** The shells there is a script for. */
export const completedShells = ['bash', 'zsh', 'fish'] as const;

/** One of {@link completedShells}. */
export type CompletedShell = (typeof completedShells)[number];

/** The command the scripts ask. */
export const askingCommand = '__complete';

/**
 * Each asks `holdfast` itself, and leaves files to the shell where it gives nothing. What it gives is never evaluated: names
 * come from files somebody else may have written.
 */
const scripts = {
  bash: `_holdfast() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    COMPREPLY+=("$(printf '%q' "$candidate")")
  done < <(holdfast ${askingCommand} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _holdfast holdfast`,
  zsh: `#compdef holdfast
_holdfast() {
  local -a candidates
  candidates=("\${(@f)$(holdfast ${askingCommand} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${candidates[*]}" ]]; then compadd -- "\${candidates[@]}"; else _files; fi
}
compdef _holdfast holdfast`,
  fish: `complete -c holdfast -a '(holdfast ${askingCommand} -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
} as const satisfies Record<CompletedShell, string>;

/** The script for a shell: to be evaluated at its start. */
export function completionScript(shell: CompletedShell): string {
  return scripts[shell];
}

/** Where the names of servers come from. */
export interface CompletionOptions {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What may stand in the place of the last word, after those before it. Starts nothing, and rejects for nothing. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  options: CompletionOptions,
): Promise<readonly string[]> {
  const typed = words.at(-1) ?? '';
  const found = read(program, words.slice(0, -1));
  const all = new Set(await offered(program, found, typed, options));
  return [...all].filter((each) => each.startsWith(typed) && isPlain(each));
}

interface Found {
  /** The command the words name, if they name one. */
  readonly command: Command | undefined;
  /** The option whose value comes next. */
  readonly awaits: Option | undefined;
  /** How many arguments of the command stand there. */
  readonly count: number;
  /** The files of `--config`. */
  readonly files: readonly string[];
}

function read(program: Command, words: readonly string[]): Found {
  let command: Command | undefined;
  let awaits: Option | undefined;
  let count = 0;
  const files: string[] = [];
  for (const word of words) {
    if (awaits !== undefined) {
      if (awaits.long === '--config') files.push(word);
      awaits = undefined;
    } else if (word.startsWith('-')) {
      const option = optionsOf(program, command).find(({ long, short }) => long === word || short === word);
      if (option?.required === true) awaits = option;
    } else if (command === undefined) {
      command = program.commands.find((each) => each.name() === word);
      if (command === undefined) return { command, awaits, count: Number.POSITIVE_INFINITY, files };
    } else count += 1;
  }
  return { command, awaits, count, files };
}

async function offered(
  program: Command,
  { command, awaits, count, files }: Found,
  typed: string,
  options: CompletionOptions,
): Promise<readonly string[]> {
  if (awaits !== undefined) return awaits.argChoices ?? [];
  if (typed.startsWith('-'))
    return optionsOf(program, command).flatMap(({ long }) => (long === undefined ? [] : [long]));
  if (command === undefined)
    return count > 0
      ? []
      : program
          .createHelp()
          .visibleCommands(program)
          .map((each) => each.name());
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const next = registeredArguments[count] ?? (last?.variadic === true ? last : undefined);
  if (next === undefined) return [];
  if (next.argChoices !== undefined) return next.argChoices;
  return /^servers?$/.test(next.name()) ? namesOfServers(files, options) : [];
}

function optionsOf(program: Command, command: Command | undefined): readonly Option[] {
  const help = program.createHelp();
  return [...(command === undefined ? [] : help.visibleOptions(command)), ...help.visibleOptions(program)];
}

async function namesOfServers(
  files: readonly string[],
  { directory, env }: CompletionOptions,
): Promise<readonly string[]> {
  try {
    const named = files.map((file) => resolve(directory, file));
    const { servers, misconfigured } = await readConfig(named.length > 0 ? named : await findConfig(directory), {
      env,
    });
    return [...Object.keys(servers), ...Object.keys(misconfigured)];
  } catch {
    // In the middle of a line nothing can be said about a file that cannot be read.
    return [];
  }
}

/** One line, and nothing a terminal takes for more than text. */
function isPlain(text: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}
