/** The resources, prompts and completions every scripted server has. */
import type { McpServer } from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { Stage } from './stage.ts';

const parkPrefix = 'test://park/';

/**
 * Adds them: the resource `test://static`; the template `test://park/{key}`, whose reading waits for `release(key)`; the
 * prompt `greet` with its argument `name`, completed from a few names; and the prompt `park`, which waits like the resource.
 */
export function addContent({ server }: McpServer, stage: Stage): void {
  const { keep } = stage.script;
  server.setRequestHandler('resources/list', () => ({
    ...keep,
    resources: [{ uri: 'test://static', name: 'static', mimeType: 'text/plain' }],
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    ...keep,
    resourceTemplates: [{ uriTemplate: `${parkPrefix}{key}`, name: 'park' }],
  }));
  server.setRequestHandler('resources/read', async (request, ctx) => {
    const { uri } = request.params;
    if (uri === 'test://static') return { ...keep, contents: [{ uri, mimeType: 'text/plain', text: 'static' }] };
    if (!uri.startsWith(parkPrefix)) throw new ProtocolError(-32_002, `Unknown resource: ${uri}`);
    const value = await stage.park(uri.slice(parkPrefix.length), { call: stage.nextCall(), signal: ctx.mcpReq.signal });
    return {
      ...keep,
      contents: [{ uri, mimeType: 'text/plain', text: typeof value === 'string' ? value : 'released' }],
    };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({
    ...keep,
    prompts: [
      { name: 'greet', arguments: [{ name: 'name', required: true }] },
      { name: 'park', arguments: [{ name: 'key' }] },
    ],
  }));
  server.setRequestHandler('prompts/get', async (request, ctx) => {
    const { name, arguments: args } = request.params;
    if (name === 'greet') return said(`Greet ${args?.['name'] ?? 'nobody'}.`);
    if (name !== 'park') throw new ProtocolError(-32_602, `Unknown prompt: ${name}`);
    const value = await stage.park(args?.['key'] ?? 'default', { call: stage.nextCall(), signal: ctx.mcpReq.signal });
    return said(typeof value === 'string' ? value : 'released');
  });
  server.setRequestHandler('completion/complete', async (request, ctx) => {
    const { value } = request.params.argument;
    if (value.startsWith('park:')) {
      await stage.park(value.slice('park:'.length), { call: stage.nextCall(), signal: ctx.mcpReq.signal });
      return { completion: { values: ['released'] } };
    }
    return { completion: { values: ['Ada', 'Alan', 'Barbara'].filter((name) => name.startsWith(value)) } };
  });
}

function said(text: string): { messages: { role: 'user'; content: { type: 'text'; text: string } }[] } {
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}
