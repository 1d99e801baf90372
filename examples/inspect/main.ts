/**
 * Shows a thread in Stately's inspector while a question waits across a replacement.
 *
 *     npx tsx examples/inspect/main.ts            runs the conversation and ends
 *     npx tsx examples/inspect/main.ts --stay     keeps the page up until Ctrl+C
 *
 * Open the printed address. The page around the inspector is served here; the inspector in it is loaded from stately.ai.
 * Stately's server listens on every interface and keeps the last 200 frames only. `createFrameServer` of
 * `holdfast/inspector` listens on loopback, wants a secret, and gives a late viewer every live actor first.
 */
import { once } from 'node:events';
import { createThread } from 'holdfast';
import { createFrameRelay, createFrameServer } from 'holdfast/inspector';
import { scriptedServer } from 'holdfast/testing';
import { createInspectorServer } from '@statelyai/inspect/server';
import { filter, firstValueFrom, map } from 'rxjs';
import { WebSocket } from 'ws';

const port = Number(process.env['INSPECT_PORT'] ?? 8099);
const stately = createInspectorServer({ port, autoOpen: false });
const socket = new WebSocket(`ws://127.0.0.1:${port}`);
await once(socket, 'open');

// Each frame goes to both: to Stately's server as it is, and to a relay that remembers who is alive.
const relay = createFrameRelay();
const own = await createFrameServer({ attach: relay.attach, origins: [`http://localhost:${port}`] });
let frames = 0;
await using desk = scriptedServer({ name: 'desk', tools: ['ask', 'echo'] });
await using thread = createThread({
  servers: { desk: desk.config },
  inspect: (frame) => {
    frames += 1;
    socket.send(JSON.stringify(frame));
    relay.send(frame);
  },
});
console.log(`Stately's inspector: http://localhost:${port}`);
console.log(`Frames for a viewer of your own: ${own.url.replace(/[^/]+$/, '<secret>')}`);

await thread.ready();
const step = await thread.beginStep();
const ask = step.tools.find((tool) => tool.tool === 'ask');
if (ask === undefined) throw new Error('Expected the desk to have the tool "ask", got none.');
const result = step.callTool(ask.name, { message: 'May I come in?' });
const question = await firstValueFrom(
  thread.elicitations$.pipe(
    map(([first]) => first),
    filter((first) => first !== undefined),
  ),
);
console.log(`The desk asks: ${question.message}`);

const { generation } = await thread.replaceRuntime({ servers: { desk: desk.config, annex: desk.config } });
console.log(`Runtime ${generation} is current; the call of runtime ${step.generation} still waits.`);
console.log('Alive now:', (await liveActors(own.url)).join(', '));

await thread.respond(question.token, { action: 'accept', content: { name: 'Ada' } });
console.log('The call returned:', JSON.stringify((await result).content));
await step.end();

if (process.argv.includes('--stay')) await once(process, 'SIGINT');
await thread.close();
socket.close();
await once(socket, 'close');
await own.close();
stately.stop();
console.log(`${frames} frames.`);

/** The actors a viewer that comes now is shown first. */
async function liveActors(url: string): Promise<readonly string[]> {
  const viewer = new WebSocket(url);
  const names: string[] = [];
  viewer.on('message', (data: Buffer) => {
    const frame: unknown = JSON.parse(data.toString());
    if (isFrame(frame) && frame.type === '@xstate.actor') names.push(frame.sessionId);
  });
  await once(viewer, 'open');
  // The replay comes with the connection; a ping that is answered comes after it.
  viewer.ping();
  await once(viewer, 'pong');
  viewer.close();
  await once(viewer, 'close');
  return names;
}

function isFrame(value: unknown): value is { readonly type: string; readonly sessionId: string } {
  return typeof value === 'object' && value !== null && 'sessionId' in value;
}
