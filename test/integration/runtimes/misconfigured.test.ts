import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import { scriptedServer } from '../../../src/testing/index.ts';

const failure = {
  code: 'server_misconfigured',
  message: 'Server "docs": the variable "DOCS_TOKEN" is not set. Set it.',
  retryable: false,
} as const;

test('CN-3 a misconfigured server shows with its reason, beside one that works', async () => {
  await using desk = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { desk: desk.config }, misconfigured: { docs: failure } });
  await thread.ready();
  const shown = thread.snapshot().servers.find(({ name }) => name === 'docs');
  expect(shown).toMatchObject({ state: 'misconfigured', error: failure });
  expect((await thread.beginStep()).tools).toHaveLength(1);
});

test('RT-3 a required server that is misconfigured keeps its candidate from being published, and says why', async () => {
  await using desk = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { desk: desk.config } });
  await thread.ready();
  await expect(
    thread.replaceRuntime({ servers: { desk: desk.config }, misconfigured: { docs: { ...failure, required: true } } }),
  ).rejects.toMatchObject({ code: 'runtime_failed', message: expect.stringContaining('DOCS_TOKEN') as string });
  expect(thread.snapshot().generation).toBe(1);
});

test('EL-9 the snapshot shows how long a call has been paused so far', async () => {
  await using desk = scriptedServer({ tools: ['ask'] });
  let now = 1_000;
  const clock = {
    now: () => now,
    setTimeout: (run: () => void, ms: number) => setTimeout(run, ms),
    clearTimeout: (id: unknown) => clearTimeout(id as NodeJS.Timeout),
  };
  await using thread = createThread({ servers: { desk: desk.config }, clock });
  const step = await thread.beginStep();
  const asked = step.callTool('mcp__desk__ask');
  const opened = new Promise<string>((resolve) => {
    thread.elicitations$.subscribe(([first]) => {
      if (first !== undefined) resolve(first.token);
    });
  });
  const token = await opened;
  now += 5_000;
  expect(thread.snapshot().steps[0]?.calls[0]).toMatchObject({ state: 'paused', pausedMs: 5_000 });
  await thread.respond(token, { action: 'accept', content: { name: 'Ada' } });
  await asked;
});
