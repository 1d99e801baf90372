/** Handlers of a link's owner, made safe to call: nothing they throw gets out, and nothing is told once the gate is shut. */
import { messageOf } from '../domain/errors.ts';
import type { LinkHandlers } from '../domain/link.ts';
import { boundWarnings } from './warnings.ts';

export interface HandlerGate {
  readonly handlers: LinkHandlers;
  /** Nothing but warnings is told from now on: what is being ended may not end as it should. */
  hush(): void;
  /** Nothing is told from now on. */
  shut(): void;
}

/** Wraps the handlers an owner gave: guarded, gated, and with bounded warnings (SPEC RT-12). */
export function guardHandlers(owner: LinkHandlers): HandlerGate {
  let open: 'all' | 'warnings' | 'none' = 'all';
  const guard = (tell: () => void, what: 'all' | 'warnings' = 'all'): void => {
    if (open !== what && open !== 'all') return;
    try {
      tell();
    } catch (error) {
      tellBroken(owner, error);
    }
  };
  const warn = boundWarnings((code, message) => {
    guard(() => {
      owner.onWarning(code, message);
    }, 'warnings');
  });
  return {
    handlers: {
      onQuestion: (question, answer) => {
        guard(() => {
          owner.onQuestion(question, answer);
        });
      },
      onQuestionWithdrawn: (id, reason) => {
        guard(() => {
          owner.onQuestionWithdrawn(id, reason);
        });
      },
      onListChanged: (kind) => {
        guard(() => {
          owner.onListChanged(kind);
        });
      },
      onResourceUpdated: (uri) => {
        guard(() => {
          owner.onResourceUpdated(uri);
        });
      },
      onLog: (level, data, logger) => {
        guard(() => {
          owner.onLog(level, data, logger);
        });
      },
      onWarning: warn,
      onElicitationComplete: (elicitationId) => {
        guard(() => {
          owner.onElicitationComplete(elicitationId);
        });
      },
      onTaskStatus: (task) => {
        guard(() => {
          owner.onTaskStatus?.(task);
        });
      },
      onVerdict: (verdict) => {
        guard(() => {
          owner.onVerdict(verdict);
        });
      },
      onUnreachable: (failure) => {
        guard(() => {
          owner.onUnreachable?.(failure);
        });
      },
      onClosed: (failure) => {
        guard(() => {
          owner.onClosed(failure);
        });
      },
    },
    hush: () => {
      if (open === 'all') open = 'warnings';
    },
    shut: () => {
      open = 'none';
    },
  };
}

function tellBroken(owner: LinkHandlers, error: unknown): void {
  try {
    owner.onWarning('internal', `Expected a handler of the link to return, got ${messageOf(error)}.`);
  } catch {
    // Its warning handler is broken as well: there is nobody left to tell, and a server must not be able to end the process.
  }
}
