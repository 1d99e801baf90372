/** Reading the skills of plugins where the plugins are (SPEC WS-2). */
import type { Clock, ReadSkillOptions } from './api.ts';
import type { PlacedExtras } from './catalog/contributions.ts';
import { parseSkillFile } from './catalog/skill-file.ts';
import { HoldfastError, messageOf } from './domain/errors.ts';
import type { SkillContent, SkillInfo } from './domain/skill.ts';
import { abortedError } from './wait-ready.ts';

/** A plugin's skill as a step found it. */
export interface PlacedSkill {
  readonly info: SkillInfo;
  readonly extras: PlacedExtras;
  readonly directory: string;
}

const usualTimeoutMs = 30_000;

/** Reads one file of a skill: now, in the place it was found in, and only from inside the skill's directory. */
export async function readPlacedFile(
  { info, extras, directory }: PlacedSkill,
  file: string | undefined,
  { signal, timeoutMs = usualTimeoutMs }: ReadSkillOptions,
  clock: Clock,
): Promise<SkillContent> {
  const name = file ?? 'SKILL.md';
  if (leadsAway(name)) throw invalid(info, name, 'expected a path below the skill, without "." and ".."');
  if (signal?.aborted === true) throw abortedError('Reading a skill', signal);
  const over = new AbortController();
  const timer = clock.setTimeout(() => over.abort(new Error('timeout')), timeoutMs);
  const ends = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const text = await read(extras, `${directory}/${name}`, directory, ends)
    .catch((error: unknown) => {
      if (signal?.aborted === true) throw abortedError('Reading a skill', signal);
      if (over.signal.aborted) throw timeoutError(info, name, timeoutMs);
      if (error instanceof HoldfastError) throw error;
      throw new HoldfastError(
        'server_unavailable',
        `Skill "${info.id}", "${name}": expected its environment to read it, got: ${messageOf(error)}`,
        { outcome: 'failed', cause: error },
      );
    })
    .finally(() => clock.clearTimeout(timer));
  if (text === undefined) throw invalid(info, name, 'expected the file to be there, and it is not');
  if (name === 'SKILL.md') checkName(info, text);
  return { skill: info, file: name, text };
}

/** Ends with the signal, even where a launcher does not. */
function read(
  { launcher }: PlacedExtras,
  path: string,
  within: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error('aborted'));
    signal.addEventListener('abort', onAbort, { once: true });
    void Promise.resolve(launcher.readFile?.(path, { signal, within }))
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Another skill in its place is not the one the model was told of. */
function checkName(info: SkillInfo, text: string): void {
  const parsed = parseSkillFile(text, info.uri ?? info.id);
  if (parsed.kind === 'invalid') throw invalid(info, 'SKILL.md', parsed.problem);
  if (parsed.name !== info.name)
    throw invalid(info, 'SKILL.md', `expected the skill "${info.name}", got "${parsed.name}"`);
}

function leadsAway(path: string): boolean {
  return path.split(/[\\/]/).some((part) => part === '' || part === '.' || part === '..') || path.includes('\0');
}

function invalid({ id }: SkillInfo, file: string, problem: string): HoldfastError {
  return new HoldfastError('invalid_result', `Skill "${id}", "${file}": ${problem}. It was not loaded.`, {
    outcome: 'failed',
    issues: [{ path: `/${file}`, message: problem }],
  });
}

function timeoutError({ id }: SkillInfo, file: string, timeoutMs: number): HoldfastError {
  return new HoldfastError(
    'timeout',
    `Skill "${id}", "${file}": expected its environment to read it within ${String(timeoutMs)} ms. Raise timeoutMs, or see why it is slow.`,
    { outcome: 'unknown' },
  );
}
