/** How calls end and what errors say, as lines a person reads. No stack traces. */
import { HoldfastError } from '../../index.ts';
import { formatResult, type Painter } from '../format.ts';
import { plain } from '../terminal.ts';
import type { CallEnd } from './foreground-call.ts';

/** The end of a call. */
export function formatEnd(end: CallEnd, painter: Painter): string {
  return end.kind === 'result' ? formatResult(end.result, painter) : describeError(end.error, painter);
}

/** Any error, in one message, with what a server last wrote. */
export function describeError(error: unknown, { paint }: Painter): string {
  if (!(error instanceof HoldfastError))
    return paint('red', plain(error instanceof Error ? error.message : String(error)));
  const lines = [paint('red', `${error.code}: ${plain(error.message)}`)];
  if (error.outcome === 'unknown') lines.push(paint('yellow', 'The call was on its way: it may have run.'));
  for (const issue of error.issues ?? []) {
    if (!error.message.includes(issue.message)) lines.push(`  ${plain(issue.path)} ${plain(issue.message)}`);
  }
  if (error.stderr !== undefined && error.stderr.trim() !== '')
    lines.push(
      ...plain(error.stderr)
        .trimEnd()
        .split('\n')
        .slice(-5)
        .map((line) => paint('dim', `  | ${line}`)),
    );
  return lines.join('\n');
}
