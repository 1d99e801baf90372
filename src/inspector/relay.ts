/** Keeps a stream of frames ready for viewers that come late, where only the frames are at hand (`ThreadOptions.inspect`). */
import type { InspectionFrame } from '../api.ts';
import { statusOf } from './actor-ref.ts';
import { createViewers } from './viewers.ts';
import type { FrameSink } from './viewers.ts';

/** Passes frames on, and remembers who is alive for late viewers. */
export interface FrameRelay {
  /** Give this to `createThread({ inspect })`. */
  readonly send: FrameSink;
  /** Adds a viewer: it gets the live actors first, parents before children, then everything. Returns its end. */
  readonly attach: (send: FrameSink) => () => void;
}

/** Makes a relay. It holds one frame a live actor, whether or not anybody is attached. */
export function createFrameRelay(): FrameRelay {
  const live = new Map<string, InspectionFrame>();
  const viewers = createViewers();

  function keep(frame: InspectionFrame): void {
    if (frame.type === '@xstate.event') return;
    const ended = statusOf(frame['snapshot']) !== 'active';
    if (frame.type === '@xstate.actor') {
      // Set anew, so that an id that is used again comes after its parent's latest registration.
      live.delete(frame.sessionId);
      if (!ended) live.set(frame.sessionId, frame);
      return;
    }
    const known = live.get(frame.sessionId);
    if (ended) live.delete(frame.sessionId);
    else if (known !== undefined) live.set(frame.sessionId, { ...known, snapshot: frame['snapshot'] });
  }

  return {
    send(frame) {
      keep(frame);
      viewers.send(frame);
    },
    attach(send) {
      return viewers.attach(send, [...live.values()]);
    },
  };
}
