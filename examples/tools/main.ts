/** What comes back from tools: checked, made to fit, read on; and files that go to them. */
import { McpServer } from '@modelcontextprotocol/server';
import { createThread, HoldfastError } from 'holdfast';
import { boundResult, createResultShelf } from 'holdfast/mcp';
import { z } from 'zod';

function said(value: string): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: value }] };
}

/** A server of this process that says what it returns, and which of its parameters are files. */
function scanServer(): McpServer {
  const server = new McpServer({ name: 'scans', version: '1.0.0' });
  server.registerTool('log', { description: 'Reads the log.' }, () => said('a line of the log\n'.repeat(1_000)));
  server.registerTool(
    'read',
    {
      inputSchema: z.object({ scan: z.object({ bytes: z.string() }) }),
      outputSchema: z.object({ pages: z.number() }),
      _meta: { 'openai/fileParams': ['scan'] },
    },
    ({ scan }) => ({ ...said('read'), structuredContent: { pages: scan.bytes.length } }),
  );
  return server;
}

await using thread = createThread({
  servers: { scans: { inMemory: scanServer } },
  policy: { trust: ['scans'] },
  fileContent: ({ path }) => {
    if (!path.startsWith('/workspace/')) throw new Error('outside the workspace');
    return { bytes: `the content of ${path}` };
  },
});
const step = await thread.beginStep();

const shelf = createResultShelf();
const log = boundResult(await step.callTool('mcp__scans__log'), { maxBytes: 40, shelf });
for (const { text } of log.content) console.log(String(text).replace(/holdfast-result:[^\]]+/, 'holdfast-result:…'));
const pointer = /holdfast-result:[^\]]+/.exec(String(log.content.at(-1)?.['text']))?.[0] ?? '';
console.log(shelf.read(pointer, { maxBytes: 20 }).block['text']);

const [read] = step.tools.filter(({ tool }) => tool === 'read');
console.log(JSON.stringify(read?.inputSchema['properties']));
const result = await step.callTool('mcp__scans__read', { scan: '/workspace/a.png' });
console.log(result.structuredContent);
await step.callTool('mcp__scans__read', { scan: '/etc/passwd' }).catch((error: unknown) => {
  if (error instanceof HoldfastError) console.log(error.code, error.outcome);
});
