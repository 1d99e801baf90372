/** Checks what a skill is asked for with, where types cannot. */
import type { ReadSkillOptions } from './api.ts';
import { checkAbortSignal, checkName, checkOptions, checkTimeout } from './check-arguments.ts';
import { isRecord } from './domain/json.ts';
import type { SkillAddress } from './domain/skill.ts';

/** @throws HoldfastError `invalid_argument` for what names no skill. */
export function addressOf(wanted: unknown): string | SkillAddress {
  if (!isRecord(wanted)) {
    checkName(wanted, 'the id or name of a skill');
    return wanted;
  }
  const { server, uri } = wanted;
  checkName(server, 'the server of a skill');
  checkName(uri, 'the uri of a skill');
  return { server, uri };
}

/** @throws HoldfastError `invalid_argument` for options that are none. */
export function readOptionsOf(given: unknown): ReadSkillOptions {
  const options: unknown = given ?? {};
  checkOptions(options, 'readSkill');
  if (!isRecord(options)) return {};
  const { file, timeoutMs, signal } = options;
  if (file !== undefined) checkName(file, 'the file of a skill');
  checkAbortSignal(signal);
  if (timeoutMs !== undefined) checkTimeout(typeof timeoutMs === 'number' ? timeoutMs : Number.NaN);
  return {
    ...(file === undefined ? {} : { file }),
    ...(signal === undefined ? {} : { signal }),
    ...(typeof timeoutMs === 'number' ? { timeoutMs } : {}),
  };
}
