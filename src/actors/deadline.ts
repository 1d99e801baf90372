/** The `deadline` actor: tells its parent when an absolute time has passed, also after a restart (DESIGN §2, rule 3). */
import { fromCallback } from 'xstate';
import type { CallbackActorLogic } from 'xstate';
import type { Clock } from '../api.ts';
import type { DeadlineInput, DeadlinePassedEvent } from '../machines/not-provided.ts';

/** Longest delay a Node timer takes. */
const maxDelayMs = 2 ** 31 - 1;

export function deadlineLogic(
  clockOf: (system: object) => Clock,
): CallbackActorLogic<DeadlinePassedEvent, DeadlineInput> {
  return fromCallback<DeadlinePassedEvent, DeadlineInput>(({ input, sendBack, system }) => {
    const clock = clockOf(system);
    let timer: unknown;
    const arm = (): void => {
      const left = input.at - clock.now();
      if (left <= 0) sendBack({ type: 'deadline.passed', at: clock.now() });
      else timer = clock.setTimeout(arm, Math.min(left, maxDelayMs));
    };
    const left = input.at - clock.now();
    timer = clock.setTimeout(arm, Math.min(Math.max(left, 0), maxDelayMs));
    return () => {
      clock.clearTimeout(timer);
    };
  });
}
