/** Tab in the shell: commands, and what each may be followed by. */
import type { Completer } from 'node:readline';
import { commands, type ShellContext } from './commands.ts';

/** The completer of a shell. */
export function completerOf(context: ShellContext): Completer {
  return (line) => {
    const words = line.trimStart().split(/\s+/);
    const word = words.pop() ?? '';
    const [name, ...before] = words;
    if (name === undefined) return [matching([...commands.keys()], word), word];
    return [matching(commands.get(name)?.complete?.(context, before, word) ?? [], word), word];
  };
}

/** A blank follows what is whole: not a directory, and not the name of an argument. */
function matching(candidates: readonly string[], start: string): string[] {
  return candidates
    .filter((candidate) => candidate.startsWith(start))
    .map((candidate) => (/[=/]$/.test(candidate) ? candidate : `${candidate} `));
}
