/** Makes what a call is sent with, where that takes time: content of files (SPEC NM-6). */
import { toFailure } from '../domain/errors.ts';
import type { Failure } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { CallRecord } from './call-record.ts';

/** Notes what a call is to be sent with. Resolves with why it cannot be, or with `stopped` when it was withdrawn. */
export async function prepareCall(record: CallRecord, params: JsonObject): Promise<Failure | 'ready' | 'stopped'> {
  const stop = new AbortController();
  record.withdraw = () => stop.abort();
  try {
    record.prepared = (await record.prepare?.(params, stop.signal)) ?? params;
  } catch (error) {
    return stop.signal.aborted ? 'stopped' : toFailure(error);
  }
  if (stop.signal.aborted) return 'stopped';
  record.withdraw = undefined;
  return 'ready';
}
