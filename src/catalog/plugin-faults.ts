/** What may be wrong with a plugin, told apart from what is wrong with the place it is in. */
import { HoldfastError } from '../domain/errors.ts';
import type { ErrorCode } from '../domain/errors.ts';

/** Reports a fault of a plugin, or of one skill of it; without a code it is one of its environment. */
export type WarnOfPlugin = (message: string, code?: 'plugin_invalid' | 'skill_invalid') => void;

const faultsOfFiles: readonly ErrorCode[] = [
  'invalid_result',
  'limit_exceeded',
  'config_syntax',
  'config_invalid',
  'invalid_argument',
];

/** Tells whether a file is not fit to be read, wherever it is read. */
export function isUnfit(error: unknown): boolean {
  return error instanceof HoldfastError && faultsOfFiles.includes(error.code);
}
