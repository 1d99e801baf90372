/** Texts of servers that are cut in the middle of a secret: what is left of it is not shown either. */
import { McpServer, ProtocolError } from '@modelcontextprotocol/server';
import { BehaviorSubject } from 'rxjs';
import { expect, test } from 'vitest';
import { createThread } from '../../../src/index.ts';
import type { EnvironmentStates } from '../../../src/index.ts';
import { errorOf, watched } from './support.ts';

const secret = 'Zk9TOPSECRETabcdefghijklmnopqrstuvwxyz0123456789END';

/** Whether 8 characters of the secret in a row are in a text. */
function shows(text: string): boolean {
  return Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).some((part) =>
    text.includes(part),
  );
}

/** The secret, beginning so far before a length that some texts are cut at. */
const across = (length: number, before: number): string => `${'x'.repeat(length - before)}${secret} and more`;
const befores = [50, 30, 9];

test.each(befores)(
  'SE-1 instructions in the world state, the reason of a place and the message of an error, %i before the cut',
  async (before) => {
    const server = (): McpServer => {
      const made = new McpServer(
        { name: 'm', version: '1' },
        { instructions: across(4_096, before), capabilities: { prompts: {} } },
      );
      made.server.setRequestHandler('prompts/get', () => {
        throw new ProtocolError(-32_001, across(300, before));
      });
      return made;
    };
    const states$ = new BehaviorSubject<EnvironmentStates>({ box: { kind: 'failed', reason: across(1_024, before) } });
    await using thread = createThread({
      servers: { m: { inMemory: server } },
      environments: { states$ },
      secrets: [secret],
    });
    await using step = await thread.beginStep();
    expect(step.worldState).toMatchObject({
      servers: { m: { instructions: expect.stringContaining('[redacted]…') as string } },
      environments: { box: { reason: expect.stringContaining('[redacted]…') as string } },
    });
    expect(shows(JSON.stringify(step.worldState))).toBe(false);
    const { message } = await errorOf(step.getPrompt('m', 'p'));
    expect(message).toContain('xxx');
    expect(shows(message)).toBe(false);
  },
);

test.each(befores)('SE-1 EL-8 the message of a question, %i before the cut', async (before) => {
  const server = (): McpServer => {
    const made = new McpServer({ name: 'm', version: '1' });
    made.registerTool('ask', { description: 'Asks.' }, async () => {
      await made.server.elicitInput({
        message: across(65_536, before),
        requestedSchema: { type: 'object', properties: {} },
      });
      return { content: [] };
    });
    return made;
  };
  await using watch = watched({ servers: { m: { inMemory: server } }, secrets: [secret] });
  const step = await watch.thread.beginStep();
  const result = step.callTool('mcp__m__ask');
  const { token, message } = await watch.nextQuestion();
  expect(message).toMatch(/\[redacted\]…$/);
  expect(shows(message)).toBe(false);
  await watch.thread.respond(token, { action: 'decline' });
  await result;
});

test('SE-1 the last of what a process wrote to stderr', async () => {
  // No length that divides what is kept: it is cut inside the secret.
  const program = `process.stderr.write((process.env.API_TOKEN + ' ').repeat(3000), () => process.exit(1))`;
  const server = { command: process.execPath, args: ['-e', program], env: { API_TOKEN: secret } };
  await using thread = createThread({ servers: { b: server } });
  await using _step = await thread.beginStep();
  const stderr = thread.snapshot().servers[0]?.error?.stderr ?? '';
  expect(stderr).toMatch(/^…\[redacted\] \[redacted\]/);
  expect(shows(stderr)).toBe(false);
});
