/** Results that say their tool needs the person to sign in somewhere, on a real server. */
import { McpServer } from '@modelcontextprotocol/server';
import { createCatalogBuilder } from 'holdfast';
import { connectorSignIn } from 'holdfast/mcp';
import { describe, expect, test } from 'vitest';
import type { SignInReader } from '../../../src/index.ts';
import { errorOf, textOf, watched } from './support.ts';

const connector = { id: 'mail', name: 'Post' };
const url = 'https://accounts.example/connect/mail';

/** A server whose tool lets nobody in who has not signed in; it shows a second tool to those who have. */
class Mail {
  isSignedIn = false;
  calls = 0;

  catalog() {
    return createCatalogBuilder()
      .register({
        name: 'mail',
        source: { kind: 'extension', id: 'apps', order: 0 },
        connector,
        config: { inMemory: () => this.#serve() },
      })
      .build();
  }

  #serve(): McpServer {
    const server = new McpServer({ name: 'mail', version: '1.0.0' });
    const tool = server.registerTool('send', {}, () => {
      this.calls += 1;
      return this.isSignedIn
        ? { content: [{ type: 'text', text: 'sent' }] }
        : {
            content: [{ type: 'text', text: 'not signed in' }],
            isError: true,
            _meta: {
              _codex_apps: {
                connector_auth_failure: { is_auth_failure: true, connector_id: 'mail', auth_reason: 'missing_link' },
              },
            },
          };
    });
    // The server says nothing of it: only who lists anew learns it.
    Object.defineProperty(tool, 'description', { get: () => (this.isSignedIn ? 'Sends.' : 'Asks for a sign-in.') });
    return server;
  }
}

const signInFor: SignInReader = (result, tool) =>
  tool.connector === undefined ? undefined : connectorSignIn(result, { connector: tool.connector, url });

describe('a result that asks for a sign-in', () => {
  test('AU-3 puts a url question, and after a yes lists the tools anew and makes the call once more', async () => {
    const mail = new Mail();
    await using watch = watched({ catalog: mail.catalog(), signInFor });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__mail__send', {}, { callId: 'mine' });
    const question = await watch.nextQuestion();
    expect(question).toMatchObject({
      kind: 'url',
      url,
      message: 'Sign in to Post to use it here.',
      server: 'mail',
      attribution: 'call',
      request: 'mine',
    });
    expect(watch.thread.snapshot().steps[0]?.calls).toMatchObject([{ state: 'paused' }]);
    mail.isSignedIn = true;
    await watch.thread.respond(question.token, { action: 'accept' });
    expect(textOf(await result)).toBe('sent');
    await watch.until('tools.changed');
    expect(mail.calls).toBe(2);
  });

  test('AU-3 is the result when the call fails so once more', async () => {
    const mail = new Mail();
    await using watch = watched({ catalog: mail.catalog(), signInFor });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__mail__send');
    await watch.thread.respond((await watch.nextQuestion()).token, { action: 'accept' });
    expect(await result).toMatchObject({ isError: true, content: [{ text: 'not signed in' }] });
    expect(mail.calls).toBe(2);
    expect(watch.of('elicitation.opened')).toHaveLength(1);
  });

  test('AU-3 EL-5 declined fails the call, which is not made again', async () => {
    const mail = new Mail();
    await using watch = watched({ catalog: mail.catalog(), signInFor });
    const step = await watch.thread.beginStep();
    const result = step.callTool('mcp__mail__send');
    await watch.thread.respond((await watch.nextQuestion()).token, { action: 'decline' });
    expect(await errorOf(result)).toMatchObject({ code: 'authorization_declined' });
    expect(mail.calls).toBe(1);
  });

  test.each<[string, SignInReader | undefined, string[]]>([
    ['without anybody to read it', undefined, []],
    ['when it names no sign-in', () => undefined, []],
    [
      'when its reader throws',
      () => {
        throw new Error('no idea');
      },
      ['sign_in_reader_failed'],
    ],
    ['when its url may not be shown', () => ({ url: 'http://example.com/', message: 'x' }), ['sign_in_reader_failed']],
  ])('AU-3 is given as it is %s', async (_, reader, warnings) => {
    const mail = new Mail();
    await using watch = watched({ catalog: mail.catalog(), ...(reader === undefined ? {} : { signInFor: reader }) });
    const step = await watch.thread.beginStep();
    expect(await step.callTool('mcp__mail__send')).toMatchObject({ isError: true });
    expect(watch.of('warning').map(({ code }) => code)).toEqual(warnings);
    expect(watch.of('elicitation.opened')).toEqual([]);
    expect(mail.calls).toBe(1);
  });
});
