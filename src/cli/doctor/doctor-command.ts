/** `holdfast doctor`: starts each server of the configuration and says what is right, or how to mend it (SPEC CL-1). */
import { setMaxListeners } from 'node:events';
import { findUsualFiles } from '../../config/index.ts';
import { ProgressLine } from '../progress-line.ts';
import { exitCodes } from '../usage-error.ts';
import type { PlacedCheck } from './check.ts';
import { type DoctorIo, type DoctorOptions, examine } from './examine.ts';
import { formatCheck, formatEnd, formatFile, formatProblem } from './format-doctor.ts';

/** Servers that are started at the same time. */
const atOnce = 6;

/**
 * Checks every server, a few at a time, and shows each as soon as it and those before it are known.
 *
 * @returns the exit code: 0 when all is right, 1 when something is to be mended.
 * @throws UsageError for a file that does not exist and a server that is in none.
 */
export async function runDoctor(options: DoctorOptions, io: DoctorIo): Promise<number> {
  const { terminal } = io;
  // Every server that is started listens, and what is asked of it.
  setMaxListeners(0, io.signal);
  const checkup = await examine(options, io);
  const { files, problems, warnings, names } = checkup;
  const isJson = options.json === true;
  if (!isJson) {
    for (const file of files) terminal.output.write(`${formatFile(file, terminal)}\n`);
    for (const problem of problems) terminal.output.write(`${formatProblem(problem.message, terminal)}\n`);
    for (const { message, server } of warnings)
      if (server === undefined || !names.includes(server))
        terminal.output.write(`${formatProblem(message, terminal, 'yellow')}\n`);
  }
  const width = Math.min(32, Math.max(0, ...names.map((name) => name.length)));
  const checks = await inOrder(names, checkup.check, {
    progress: new ProgressLine(terminal.errors, 'checking'),
    tell: (check) => {
      if (isJson) return;
      const notes = warnings.filter(({ server }) => server === check.server).map(({ message }) => message);
      terminal.output.write(`${formatCheck(check, notes, width, terminal)}\n`);
    },
  });
  const isRight = problems.length === 0 && checks.every(({ verdict }) => verdict === 'right' || verdict === 'off');
  if (isJson) {
    const report = { isRight, files, problems, warnings, servers: checks };
    terminal.output.write(`${JSON.stringify(report, null, 2)}\n`);
  } else terminal.output.write(`${formatEnd(checks, problems.length, await otherFiles(files, io), terminal)}\n`);
  return isRight ? exitCodes.ok : exitCodes.failed;
}

/** Checks a few at a time; tells each in the order of the names. */
async function inOrder(
  names: readonly string[],
  check: (name: string) => Promise<PlacedCheck>,
  { tell, progress }: { readonly tell: (check: PlacedCheck) => void; readonly progress: ProgressLine },
): Promise<readonly PlacedCheck[]> {
  const done = new Map<string, PlacedCheck>();
  const told: PlacedCheck[] = [];
  const waiting = [...names];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      done.set(name, await check(name));
      progress.update({ progress: done.size, total: names.length });
      for (const due of names.slice(told.length)) {
        const next = done.get(due);
        if (next === undefined) break;
        told.push(next);
        progress.pause();
        tell(next);
        if (told.length < names.length) progress.resume();
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    progress.pause();
  }
  return told;
}

/** What other tools have here, where there is nothing of Holdfast's. */
async function otherFiles(files: readonly string[], { directory, env }: DoctorIo): Promise<readonly string[]> {
  if (files.length > 0) return [];
  return findUsualFiles(directory, { env, ...(env['HOME'] === undefined ? {} : { home: env['HOME'] }) });
}
