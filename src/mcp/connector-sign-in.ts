/**
 * A tool of a connector that failed because the person is not signed in to it, or not for enough.
 *
 * Such a server answers with a result, not with a refusal: nothing of the protocol asks. This reads the result, so that a
 * host can ask, and tells the model what to do after it.
 */
import type { ConnectorAttribution } from '../domain/catalog.ts';
import { isRecord } from '../domain/json.ts';
import type { ToolResult } from '../domain/tool.ts';
import { checkUrl } from '../domain/url-question.ts';
import { clip } from './wire.ts';

/** What the host knows of the connector: what a server says of it is not believed. */
export interface ConnectorSignInOptions {
  /** From the tool (`ToolInfo.connector`), or from where the server came. */
  readonly connector: ConnectorAttribution;
  /** Where a person signs in to this connector: https, or this machine. */
  readonly url: string;
  /** The member of the result's `_meta` that holds `connector_auth_failure`. Default `_codex_apps`. */
  readonly metaKey?: string;
}

/** A sign-in a result asks for: what to put to the person. */
export interface ConnectorSignIn {
  readonly connector: { readonly id: string; readonly name: string };
  readonly url: string;
  /** `oauth_upgrade_required`, `reauthentication_required`, `missing_link`, or another word of the server. */
  readonly reason?: string;
  readonly linkId?: string;
  readonly errorCode?: string;
  readonly httpStatus?: number;
  readonly action?: string;
  /** A sentence that fits the reason. */
  readonly message: string;
}

/**
 * Reads the sign-in a result asks for; `undefined` for a result that asks for none.
 *
 * It must be an error, say in so many words that authorization failed, and name no other connector than the host's own.
 */
export function connectorSignIn(result: ToolResult, options: ConnectorSignInOptions): ConnectorSignIn | undefined {
  const { connector, url, metaKey = '_codex_apps' } = options;
  const id = connector.id.trim();
  const said = failureIn(result, metaKey);
  if (said === undefined || id === '' || !checkUrl(url).ok) return undefined;
  const named = textOf(said['connector_id']);
  if (named !== undefined && named !== id) return undefined;
  const name = textOf(connector.name) ?? id;
  const reason = textOf(said['auth_reason']);
  const linkId = textOf(said['link_id']);
  const errorCode = textOf(said['error_code']);
  const httpStatus = said['error_http_status_code'];
  const action = textOf(said['error_action']);
  return {
    connector: { id, name },
    url,
    message: messageFor(name, reason),
    ...(reason === undefined ? {} : { reason }),
    ...(linkId === undefined ? {} : { linkId }),
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(typeof httpStatus === 'number' ? { httpStatus } : {}),
    ...(action === undefined ? {} : { action }),
  };
}

/** What the model is told in the place of the failed result once the person has signed in: to call again. */
export function signedInResult({ connector }: ConnectorSignIn, failed: ToolResult): ToolResult {
  const text = `The person signed in to ${connector.name}. Call the tool again now.`;
  return {
    content: [{ type: 'text', text }],
    isError: true,
    ...(failed._meta === undefined ? {} : { _meta: failed._meta }),
  };
}

function failureIn({ isError, _meta }: ToolResult, metaKey: string): Readonly<Record<string, unknown>> | undefined {
  const meta: unknown = _meta?.[metaKey];
  const said = isRecord(meta) ? meta['connector_auth_failure'] : undefined;
  return isError === true && isRecord(said) && said['is_auth_failure'] === true ? said : undefined;
}

function messageFor(name: string, reason: string | undefined): string {
  if (reason === 'oauth_upgrade_required') return `Connect ${name} again to give the permission this needs.`;
  if (reason === 'reauthentication_required') return `Connect ${name} again: its sign-in is no longer valid.`;
  return `Sign in to ${name} to ${reason === 'missing_link' ? 'use it here' : 'go on'}.`;
}

/** A text with something in it. */
function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? clip(value.trim()) : '';
  return text === '' ? undefined : text;
}
