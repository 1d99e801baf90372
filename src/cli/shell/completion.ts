/** Tab in the shell: commands, tools, servers, open questions. */
import type { Completer } from 'node:readline';
import { commands, type ShellContext } from './commands.ts';

/** The completer of a shell. */
export function completerOf(context: ShellContext): Completer {
  return (line) => {
    const [, name, word] = /^(\S+)\s+(\S*)$/.exec(line) ?? [];
    if (name === undefined || word === undefined)
      return [line.includes(' ') ? [] : matching([...commands.keys()], line), line];
    return [matching(commands.get(name)?.complete?.(context) ?? [], word), word];
  };
}

function matching(candidates: readonly string[], start: string): string[] {
  return candidates.filter((candidate) => candidate.startsWith(start)).map((candidate) => `${candidate} `);
}
