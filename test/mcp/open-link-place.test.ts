/** Links to servers of other environments: where their processes start, and what is left when they cannot. */
import { expect, test } from 'vitest';
import type { Place } from '../../src/domain/environment.ts';
import { commandLauncher } from '../../src/index.ts';
import { openLink } from '../../src/mcp/index.ts';
import { stdioServerConfig } from '../../src/testing/index.ts';

function open(place: Place) {
  return openLink({
    server: 'docs',
    config: { ...stdioServerConfig({ tools: ['echo'] }), environment: 'box' },
    place,
    offer: { sampling: false, roots: false },
    signal: new AbortController().signal,
    timeoutMs: 600_000,
    handlers: {
      onQuestion: ignore,
      onQuestionWithdrawn: ignore,
      onListChanged: ignore,
      onResourceUpdated: ignore,
      onLog: ignore,
      onWarning: ignore,
      onElicitationComplete: ignore,
      onVerdict: ignore,
      onClosed: ignore,
    },
  });
}

function ignore(): void {
  // None of these matters here.
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('CA-7 starts the process its launcher names', async () => {
  const link = await open({ handle: 'one', launcher: commandLauncher({ prefix: ['env', '-i'] }) });
  expect(link.inventory.tools.map(({ name }) => name)).toEqual(['echo']);
  await link.close();
});

test.each<[string, Place, string]>([
  ['a place that is not there', { problem: 'Expected one.' }, 'Server "docs": Expected one.'],
  [
    'a launcher that throws',
    {
      handle: 'one',
      launcher: {
        launch() {
          throw new Error('no room');
        },
      },
    },
    'no room',
  ],
])('CA-7 H10 %s is an error that leaves no timer', async (_, place, message) => {
  const before = timers();
  const error: unknown = await open(place).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'server_unavailable' });
  expect(error).toHaveProperty('message', expect.stringContaining(message));
  expect(timers()).toBe(before);
});
