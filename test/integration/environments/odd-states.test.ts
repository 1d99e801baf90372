/** States of environments that are none: nothing starts in another place, and every step begins. */
import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject } from 'rxjs';
import { expect, test } from 'vitest';
import { createThread, localLauncher } from '../../../src/index.ts';
import type { EnvironmentStates, ServerConfig } from '../../../src/index.ts';

const odd: readonly (readonly [string, unknown])[] = [
  ['of an unknown kind', { kind: 'stopping' }],
  ['that is null', null],
  ['that is a text', 'ready'],
  ['that failed without a reason', { kind: 'failed' }],
  ['that is ready without a launcher', { kind: 'ready', handle: '1' }],
  ['that is ready without a handle', { kind: 'ready', launcher: localLauncher }],
];

test.each(odd)('CA-7 RT-12 a state %s starts nothing on this machine', async (_title, state) => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const trace = join(directory, 'ran');
  const program = `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')`;
  const server: ServerConfig = { command: process.execPath, args: ['-e', program], environment: 'box' };
  const states$ = new BehaviorSubject({ box: state } as EnvironmentStates);
  try {
    await using thread = createThread({ servers: { b: server }, environments: { states$ } });
    await using step = await thread.beginStep();
    expect(step.worldState).toMatchObject({
      environments: { box: { state: 'failed', reason: expect.any(String) as string } },
    });
    expect(thread.snapshot().servers).toMatchObject([
      { state: 'failed', error: { code: 'server_unavailable', message: expect.stringContaining('"box"') as string } },
    ]);
    await using _second = await thread.beginStep();
  } finally {
    expect(existsSync(trace)).toBe(false);
    await rm(directory, { recursive: true });
  }
});

test('CA-7 RT-12 a directory that is none is left out, and states that are none are a warning', async () => {
  const states$ = new BehaviorSubject({
    box: { kind: 'ready', handle: '1', launcher: localLauncher, cwd: null },
  } as unknown as EnvironmentStates);
  await using thread = createThread({ servers: {}, environments: { states$ } });
  const told: string[] = [];
  thread.events$.subscribe((fact) => {
    if (fact.type === 'warning') told.push(fact.message);
  });
  await using first = await thread.beginStep();
  expect(first.worldState).toMatchObject({ environments: { box: { state: 'ready' } } });
  states$.next(null as unknown as EnvironmentStates);
  await using second = await thread.beginStep();
  expect(second.worldState['environments']).not.toHaveProperty('box');
  expect(told).toEqual([expect.stringContaining('Expected the states of environments by id, got null')]);
});
