/** Two threads of one host share a modern HTTP server; it goes away in the middle, and comes back. */
import { createHost } from 'holdfast';
import type { Step } from 'holdfast';
import { serveHttp } from 'holdfast/testing';
import { filter, firstValueFrom } from 'rxjs';

const server = await serveHttp({ era: 'modern', tools: ['echo'] });
const echo = async (step: Step, text: string) =>
  (await step.callTool('mcp__docs__echo', { text })).content[0]?.['text'];

await using host = createHost();
const threads = [1, 2].map(() => host.createThread({ servers: { docs: server.config } }));
const steps = await Promise.all(threads.map((thread) => thread.beginStep()));
console.log(await Promise.all(steps.map((step, index) => echo(step, `thread ${index + 1}`))));
const discoveries = server.requests.filter(({ rpcMethods }) => rpcMethods.includes('server/discover'));
console.log(`Two threads, ${discoveries.length} discovery.`);

const [thread, step] = [threads[0], steps[0]];
if (thread === undefined || step === undefined) throw new Error('Expected two threads.');
const lost = firstValueFrom(thread.events$.pipe(filter((e) => e.type === 'server.changed')));
await server.close();
const { server: name, state, error } = await lost;
console.log(`${name} is ${state}: ${error?.code}`);
const call = echo(step, 'sent once, when it was back');
await using _again = await serveHttp({ era: 'modern', tools: ['echo'] }, { port: server.port });
console.log(await call);
