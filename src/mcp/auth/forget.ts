/** Signs out of a server: tells the authorization servers that gave tokens, and keeps nothing of them (SPEC AU-2). */
import { discoverAuthorizationServerMetadata, selectClientAuthMethod } from '@modelcontextprotocol/client';
import type { CredentialStore, Fetch } from '../../domain/authorization.ts';
import type { HttpServer } from '../../domain/config.ts';
import { HoldfastError } from '../../domain/errors.ts';
import { Neighbourhood } from './addresses.ts';
import { withBoundedFetch } from './bounded-fetch.ts';
import { isLoopbackName } from './clients.ts';
import { CredentialEntry, credentialKey } from './credentials.ts';
import type { IssuerCredentials } from './credentials.ts';
import { createKeptCredentials } from './kept-credentials.ts';
import { Registrations } from './registrations.ts';

/** What is forgotten. */
export interface ForgetOptions {
  /** The name of the server in its configuration. */
  readonly server: string;
  readonly config: Pick<HttpServer, 'url' | 'oauth'>;
  /** Default: those kept for this user. */
  readonly credentials?: CredentialStore;
  readonly signal?: AbortSignal;
}

/** What became of it. */
export interface Forgotten {
  /** There were credentials. */
  readonly removed: boolean;
  /** The authorization server took the tokens back. One that cannot, or is not there, does not keep them from being removed. */
  readonly revoked: boolean;
}

/**
 * Removes the credentials of a server from where they are kept, and has their tokens revoked where that can be done.
 *
 * @throws HoldfastError `server_misconfigured` for a url that is none, `store_locked` when another process keeps them.
 */
export async function forgetCredentials(options: ForgetOptions): Promise<Forgotten> {
  const { server, config, signal = new AbortController().signal } = options;
  if (!URL.canParse(config.url))
    throw new HoldfastError('server_misconfigured', `Expected "url" to be a url, got "${config.url}". Correct it.`);
  const store = options.credentials ?? createKeptCredentials();
  let hasUnreadable = false;
  const entry = new CredentialEntry(store, credentialKey(server, config.url), () => {
    hasUnreadable = true;
  });
  return entry.exclusively(signal, async ({ issuers }, write) => {
    const kept = Object.entries(issuers);
    const given = kept.filter(([, { tokens }]) => tokens !== undefined);
    await write({ version: 1, issuers: {} });
    await Promise.all(kept.map(([issuer]) => new Registrations(store, issuer, signal).clear()));
    const neighbourhood = new Neighbourhood(config.url, [config.oauth?.issuer]);
    const results = await withBoundedFetch({ neighbourhood, signal }, (fetch) =>
      Promise.all(given.map(([issuer, own]) => revoke(issuer, own, fetch).catch(() => false))),
    );
    return { removed: kept.length > 0 || hasUnreadable, revoked: results.length > 0 && results.every(Boolean) };
  });
}

async function revoke(issuer: string, { client, tokens }: IssuerCredentials, fetch: Fetch): Promise<boolean> {
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  const endpoint =
    metadata !== undefined && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
  if (typeof endpoint !== 'string' || !isFitForTokens(endpoint) || client === undefined || tokens === undefined)
    return false;
  const isRefresh = tokens.refresh_token !== undefined;
  const body = new URLSearchParams({
    token: tokens.refresh_token ?? tokens.access_token,
    token_type_hint: isRefresh ? 'refresh_token' : 'access_token',
  });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const { client_id, client_secret } = client;
  const method = selectClientAuthMethod(client, metadata?.token_endpoint_auth_methods_supported ?? []);
  if (method === 'client_secret_basic' && client_secret !== undefined)
    headers.set('authorization', `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`);
  else {
    body.set('client_id', client_id);
    if (method === 'client_secret_post' && client_secret !== undefined) body.set('client_secret', client_secret);
  }
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  return response.ok;
}

/** As for the token endpoint: encrypted, unless it is this machine. */
function isFitForTokens(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname));
}
