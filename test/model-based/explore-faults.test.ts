/** Each planted fault is found as a violation of what it breaks, by a path that replays. */
import { expect, test } from 'vitest';
import { faults, moreFaults } from '../../scripts/explore/faults.ts';
import { reportFault } from '../../scripts/explore/report.ts';
import { wholeScope } from '../../scripts/explore/run.ts';

const paths: Readonly<Record<string, readonly string[]>> = {
  'the router forgets to unregister': [
    'runtime 1 begins',
    'connection connection-1 opens',
    'step a begins',
    'step a calls a1',
    'the server asks during call a1',
    'step a is ended',
    'the person answers again what is settled, and a question of another thread',
  ],
  'a runtime stops one holder early': [
    'runtime 1 begins',
    'connection connection-1 opens',
    'step a begins',
    'a runtime is asked for',
    'runtime 2 begins',
    'connection connection-2 opens',
  ],
  'a step reads the current runtime instead of its own': [
    'runtime 1 begins',
    'connection connection-1 opens',
    'step a begins',
    'a runtime is asked for',
    'runtime 2 begins',
    'connection connection-2 opens',
    'step a calls a1',
  ],
};

for (const fault of faults) {
  test(`TK-3 ${fault.breaks} the shortest path to a fault is found and replays: ${fault.name}`, async () => {
    const report = await reportFault(fault, wholeScope);

    expect(report).toMatchObject({ found: true, violation: { path: paths[fault.name] } });
  });
}

for (const fault of moreFaults) {
  test(`TK-3 ${fault.breaks} is violated when ${fault.name}`, async () => {
    expect(await reportFault(fault, wholeScope)).toMatchObject({ found: true });
  });
}
