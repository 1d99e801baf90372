/** Reading the skills of plugins where the plugins are (SPEC WS-2). */
import type { PlacedExtras } from './catalog/contributions.ts';
import { parseSkillFile } from './catalog/skill-file.ts';
import { HoldfastError, messageOf } from './domain/errors.ts';
import type { SkillContent, SkillInfo } from './domain/skill.ts';

/** A plugin's skill as a step found it. */
export interface PlacedSkill {
  readonly info: SkillInfo;
  readonly extras: PlacedExtras;
  readonly directory: string;
}

/** Reads one file of a skill: now, in the place it was found in, and only from inside the skill's directory. */
export async function readPlacedFile(
  { info, extras, directory }: PlacedSkill,
  file: string,
  signal: AbortSignal,
): Promise<SkillContent> {
  if (leadsAway(file)) throw invalid(info, file, 'expected a path below the skill, without "." and ".."');
  const text = await read(extras, `${directory}/${file}`, directory, signal).catch((error: unknown) => {
    if (error instanceof HoldfastError) throw error;
    throw new HoldfastError(
      'server_unavailable',
      `Skill "${info.id}", "${file}": expected its environment to read it, got: ${messageOf(error)}`,
      { outcome: 'failed', cause: error },
    );
  });
  if (text === undefined) throw invalid(info, file, 'expected the file to be there, and it is not');
  if (file === 'SKILL.md') checkName(info, text);
  return { skill: info, file, text };
}

async function read(
  { launcher }: PlacedExtras,
  path: string,
  within: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return launcher.readFile?.(path, { signal, within });
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
