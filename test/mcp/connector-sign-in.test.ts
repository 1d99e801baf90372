/** Results of connectors that ask for a sign-in. */
import { describe, expect, test } from 'vitest';
import type { ToolResult } from '../../src/index.ts';
import { connectorSignIn, signedInResult } from '../../src/mcp/index.ts';

const options = { connector: { id: 'cal', name: 'Calendar' }, url: 'https://example.com/connect/cal' };

function failed(failure: unknown, more: Partial<ToolResult> = {}): ToolResult {
  return { content: [], isError: true, _meta: { _codex_apps: { connector_auth_failure: failure } }, ...more };
}

describe('AU-3 a result that asks for a sign-in', () => {
  test('is read with what the host knows of the connector', () => {
    const said = {
      is_auth_failure: true,
      auth_reason: ' reauthentication_required ',
      connector_id: 'cal',
      connector_name: 'Your Bank',
      install_url: 'https://evil.example/',
      link_id: 'l1',
      error_code: '',
      error_http_status_code: 401,
      error_action: 'RELINK',
    };
    expect(connectorSignIn(failed(said), options)).toEqual({
      connector: { id: 'cal', name: 'Calendar' },
      url: options.url,
      reason: 'reauthentication_required',
      linkId: 'l1',
      httpStatus: 401,
      action: 'RELINK',
      message: 'Connect Calendar again: its sign-in is no longer valid.',
    });
  });

  test.each([
    ['oauth_upgrade_required', 'Connect Calendar again to give the permission this needs.'],
    ['missing_link', 'Sign in to Calendar to use it here.'],
    ['other', 'Sign in to Calendar to go on.'],
    [undefined, 'Sign in to Calendar to go on.'],
  ])('says what fits the reason %s', (auth_reason, message) => {
    expect(connectorSignIn(failed({ is_auth_failure: true, auth_reason }), options)?.message).toBe(message);
  });

  test('a connector without a name goes by its id', () => {
    const connector = { id: ' cal ' };
    expect(connectorSignIn(failed({ is_auth_failure: true }), { ...options, connector })?.connector).toEqual({
      id: 'cal',
      name: 'cal',
    });
  });

  test.each<readonly [string, ToolResult, Partial<typeof options>]>([
    ['is no error', failed({ is_auth_failure: true }, { isError: false }), {}],
    ['says nothing of it', { content: [], isError: true }, {}],
    ['says it under another key', failed({ is_auth_failure: true }, { _meta: { other: {} } }), {}],
    ['does not quite say so', failed({ is_auth_failure: 'true' }), {}],
    ['names another connector', failed({ is_auth_failure: true, connector_id: 'mail' }), {}],
    ['is of a connector without an id', failed({ is_auth_failure: true }), { connector: { id: ' ', name: 'x' } }],
    ['has no url to open', failed({ is_auth_failure: true }), { url: 'http://example.com/' }],
  ])('one that %s asks for none', (_, result, more) => {
    expect(connectorSignIn(result, { ...options, ...more })).toBeUndefined();
  });

  test('after it the model is told to call again, and the server’s own data stays', () => {
    const result = failed({ is_auth_failure: true });
    const signIn = connectorSignIn(result, options);
    expect(signIn).toBeDefined();
    if (signIn === undefined) return;
    expect(signedInResult(signIn, result)).toEqual({
      content: [{ type: 'text', text: 'The person signed in to Calendar. Call the tool again now.' }],
      isError: true,
      _meta: result._meta,
    });
  });
});
