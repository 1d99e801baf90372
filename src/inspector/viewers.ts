/**
 * The viewers of a stream of frames, and the order in which they get them.
 *
 * - V1 Every viewer gets what came after it attached, in one order, also when a viewer causes frames while it gets one.
 * - V2 A viewer that throws or rejects is detached; nobody else notices (RT-12).
 */
import type { InspectionFrame } from '../api.ts';

/** Gets frames, one a call. */
export type FrameSink = (frame: InspectionFrame) => void;

export interface Viewers {
  /** Whether nobody listens, so that no frame need be built. */
  readonly idle: boolean;
  send(frame: InspectionFrame): void;
  /** Adds a viewer that gets `first` before everything that comes later. Returns what takes it away again. */
  attach(sink: FrameSink, first: readonly InspectionFrame[]): () => void;
}

interface Viewer {
  readonly sink: FrameSink;
  attached: boolean;
}

interface Delivery {
  readonly frame: InspectionFrame;
  readonly to: readonly Viewer[];
}

/** Makes an empty set of viewers. */
export function createViewers(): Viewers {
  let viewers: readonly Viewer[] = [];
  let queue: Delivery[] = [];
  let draining = false;

  function detach(viewer: Viewer): void {
    viewer.attached = false;
    viewers = viewers.filter((other) => other !== viewer);
  }

  function drain(): void {
    if (draining) return;
    draining = true;
    for (let next = 0; next < queue.length; next += 1) {
      const delivery = queue[next];
      for (const viewer of delivery?.to ?? []) if (delivery !== undefined) deliver(viewer, delivery.frame);
    }
    queue = [];
    draining = false;
  }

  function deliver(viewer: Viewer, frame: InspectionFrame): void {
    if (!viewer.attached) return;
    try {
      const result: unknown = viewer.sink(frame);
      if (result instanceof Promise) {
        result.catch(() => {
          detach(viewer);
        });
      }
    } catch {
      // V2: what went wrong is the viewer's own; here it only means that nobody listens there any more.
      detach(viewer);
    }
  }

  return {
    get idle() {
      return viewers.length === 0;
    },
    send(frame) {
      queue.push({ frame, to: viewers });
      drain();
    },
    attach(sink, first) {
      const viewer: Viewer = { sink, attached: true };
      viewers = [...viewers, viewer];
      for (const frame of first) queue.push({ frame, to: [viewer] });
      drain();
      return () => {
        detach(viewer);
      };
    },
  };
}
