import { describe, test } from 'vitest';
import { createThreadTestMachine } from '../../src/testing/thread-test-model/machine.ts';
import { conversationDriver } from './conversation-driver.ts';
import { pathsOf } from './paths.ts';

for (const era of ['legacy', 'modern'] as const) {
  const paths = pathsOf(createThreadTestMachine(era), (observe) => conversationDriver(era, observe));
  describe(`x ${era}`, () => {
    for (const { title, run } of paths) test(title, () => run(() => undefined));
  });
}
