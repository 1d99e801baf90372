/** Facts are told once, and only what happened is told. */
import { expect, test } from 'vitest';
import { filter, firstValueFrom, map } from 'rxjs';
import { createThread } from '../../../src/index.ts';
import type { Thread, ThreadEvent } from '../../../src/index.ts';
import { scriptedServer } from '../../../src/testing/index.ts';

function record(thread: Thread): ThreadEvent[] {
  const told: ThreadEvent[] = [];
  thread.events$.subscribe((event) => told.push(event));
  return told;
}

async function firstToken(thread: Thread): Promise<string> {
  return firstValueFrom(
    thread.elicitations$.pipe(
      map(([first]) => first?.token),
      filter((token) => token !== undefined),
    ),
  );
}

test('CN-3 RT-7 each state of a restarting server is told once', async () => {
  await using desk = scriptedServer({ tools: ['echo'] });
  await using thread = createThread({ servers: { desk: desk.config } });
  const told = record(thread);
  await thread.ready();
  await thread.restartServer('desk');
  const states = told.flatMap((event) => (event.type === 'server.changed' ? [event.state] : []));
  expect(states).toEqual(['starting', 'ready', 'reconnecting', 'ready']);
});

test('RT-8 EL-3 a call that is lost with its server is not told to go on first', async () => {
  await using desk = scriptedServer({ tools: ['ask'] });
  await using thread = createThread({ servers: { desk: desk.config } });
  const told = record(thread);
  const step = await thread.beginStep();
  const call = step.callTool('mcp__desk__ask');
  const token = await firstToken(thread);
  const [ended] = await Promise.all([call.catch((error: unknown) => error), thread.restartServer('desk')]);
  expect(ended).toMatchObject({ code: 'connection_lost', outcome: 'unknown' });
  expect(told.map(({ type }) => type)).not.toContain('call.resumed');
  expect(await thread.respond(token, { action: 'decline' })).toMatchObject({ status: 'expired' });
});

test('ER-4 roots set after a thread was made without any reach its servers', async () => {
  await using desk = scriptedServer({ tools: ['roots'] });
  await using thread = createThread({ servers: { desk: desk.config } });
  await thread.ready();
  thread.setRoots([{ uri: 'file:///work', name: 'work' }]);
  const step = await thread.beginStep();
  const { content } = await step.callTool('mcp__desk__roots');
  expect(JSON.stringify(content)).toContain('file:///work');
});
