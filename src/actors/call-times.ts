/** The clocks of a call: its time limit, and how long one pause may last (SPEC EL-9). */
import type { Clock } from '../api.ts';
import type { CallContext } from '../machines/call-context.ts';
import type { CallRecord, CallSender } from './call-record.ts';

export function armTimeLimit(record: CallRecord, context: CallContext, self: CallSender, clock: Clock): void {
  const timedOut = (): void => self.send({ type: 'call.timedOut', at: clock.now() });
  record.timer = clock.setTimeout(timedOut, leftMs(context, clock));
}

export function armPauseLimit(record: CallRecord, { input }: CallContext, self: CallSender, clock: Clock): void {
  if (input.maxPauseMs === undefined) return;
  record.timer = clock.setTimeout(() => self.send({ type: 'call.pauseEnded', at: clock.now() }), input.maxPauseMs);
}

export function disarm(record: CallRecord, clock: Clock): void {
  if (record.timer === undefined) return;
  clock.clearTimeout(record.timer);
  record.timer = undefined;
}

/** A request that is sent again without a pause is still in the same stretch of time. */
export function leftMs({ runningSince, remainingMs }: CallContext, clock: Clock): number {
  const elapsed = runningSince === null ? 0 : clock.now() - runningSince;
  return Math.max(0, remainingMs - elapsed);
}
