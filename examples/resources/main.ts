/** Resources of all servers, the updates of one, and how the servers are. */
import { McpServer } from '@modelcontextprotocol/server';
import { createHost } from 'holdfast';

let notes = 'milk';

/** A server of this process with one resource that changes. */
function noteServer(): McpServer {
  const server = new McpServer(
    { name: 'notes', version: '1.0.0' },
    { capabilities: { resources: { subscribe: true } } },
  );
  server.registerResource('notes', 'notes://today', { mimeType: 'text/plain' }, () => ({
    contents: [{ uri: 'notes://today', text: notes }],
  }));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.registerTool('add', { description: 'Adds a note.' }, async () => {
    notes += ', bread';
    await server.server.sendResourceUpdated({ uri: 'notes://today' });
    return { content: [{ type: 'text', text: 'added' }] };
  });
  return server;
}

await using host = createHost();
const thread = host.createThread({
  servers: { notes: { inMemory: noteServer }, broken: { command: '/no/such/server' } },
});

const { items, failures } = await thread.resources.listAll();
for (const { server, item } of items) console.log(`${server}: ${item.uri}`);
for (const [server, { code }] of Object.entries(failures)) console.log(`${server}: ${code}`);

const changed = new Promise<void>((resolve) => {
  thread.events$.subscribe((event) => {
    if (event.type !== 'resource.updated') return;
    console.log(`${event.uri} of ${event.server} changed`);
    resolve();
  });
});
await thread.subscribeResource('notes', 'notes://today');
const step = await thread.beginStep();
await step.callTool('mcp__notes__add');
await changed;
const { contents } = await thread.resources.read('notes', 'notes://today');
console.log(contents[0]?.text);

const { servers } = await thread.status({ detail: 'tools' });
for (const { name, state, counts, toolList = [] } of servers)
  console.log(name, state, `${String(counts.calls)} calls`, toolList.map(({ tool }) => tool).join(' '));
