import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { filter, firstValueFrom, map } from 'rxjs';
import { createThread } from '../../src/index.ts';
import { createFrameRelay, createFrameServer } from '../../src/inspector/index.ts';
import { scriptedServer, serveHttp } from '../../src/testing/index.ts';

const secret = 'sk-5eeded-5ecret-0123456789';

interface Frame {
  readonly type: string;
  readonly sessionId: string;
  readonly parentId?: string;
}

/** Connects a viewer and gives the frames it was replayed: a ping that is answered comes after them. */
async function replayTo(url: string): Promise<{ readonly frames: readonly Frame[]; readonly text: string }> {
  const viewer = new WebSocket(url);
  const texts: string[] = [];
  viewer.on('message', (data: Buffer) => texts.push(data.toString()));
  await once(viewer, 'open');
  viewer.ping();
  await once(viewer, 'pong');
  viewer.close();
  await once(viewer, 'close');
  return { frames: texts.map((text) => JSON.parse(text) as Frame), text: texts.join('\n') };
}

test('IN-1 SE-1 a viewer that connects late to a thread gets all its live actors first, and no secret', async () => {
  await using desk = scriptedServer({ name: 'desk', tools: ['ask'] });
  await using http = await serveHttp({ name: 'remote', tools: ['echo'] });
  const relay = createFrameRelay();
  const frameServer = await createFrameServer({ attach: relay.attach });
  const seen: string[] = [];
  const thread = createThread({
    servers: {
      desk: desk.config,
      remote: { url: http.url, headers: { Authorization: `Bearer ${secret}` } },
    },
    inspect: (frame) => {
      seen.push(JSON.stringify(frame));
      relay.send(frame);
    },
  });
  const step = await thread.beginStep();
  const asked = step.callTool('mcp__desk__ask', { message: `Is ${secret} yours?` });
  const question = await firstValueFrom(
    thread.elicitations$.pipe(
      map(([first]) => first),
      filter((first) => first !== undefined),
    ),
  );
  await thread.replaceRuntime({ servers: { desk: desk.config } });

  const { frames, text } = await replayTo(frameServer.url);
  const actors = frames.filter((frame) => frame.type === '@xstate.actor').map((frame) => frame.sessionId);
  expect(actors).toEqual(
    expect.arrayContaining([
      'thread',
      'thread/router',
      'thread/steps',
      'thread/steps/step-1',
      'thread/steps/step-1/calls',
      'thread/steps/step-1/calls/call-1',
      `thread/steps/step-1/calls/call-1/${question.token}`,
      'thread/connections/connection-1',
      'thread/runtime-1',
      'thread/runtime-2',
    ]),
  );
  for (const [index, { parentId }] of frames.slice(0, actors.length).entries()) {
    if (parentId !== undefined) expect(actors.slice(0, index)).toContain(parentId);
  }
  expect(text).not.toContain(secret);

  await thread.respond(question.token, { action: 'accept', content: { name: 'Ada' } });
  await asked;
  await thread.close();
  await frameServer.close();
  expect(seen.join('\n')).not.toContain(secret);
  expect(seen.length).toBeGreaterThan(0);
});
