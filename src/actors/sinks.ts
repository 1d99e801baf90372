/** Where the events of one request of a call go. */
import type { JsonObject } from '../domain/json.ts';
import type { RequestFailure, RequestSink } from '../domain/link.ts';
import type { Progress } from '../domain/tool.ts';
import type { CallRecord, Calls } from './calls.ts';

/** The sink of a call whose progress nobody watches: its server is not asked for any. */
export class Sink implements RequestSink {
  readonly calls: Calls;
  readonly record: CallRecord;

  constructor(calls: Calls, record: CallRecord) {
    this.calls = calls;
    this.record = record;
  }

  onResult(result: JsonObject): void {
    this.calls.onResult(this.record, result);
  }

  onFailure(failure: RequestFailure): void {
    this.calls.onFailure(this.record, failure);
  }
}

/** The sink of a call whose progress is watched. */
export class WatchedSink extends Sink {
  onProgress(progress: Progress): void {
    this.calls.onProgress(this.record, progress);
  }
}
