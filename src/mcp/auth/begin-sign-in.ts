/** Begins the sign-in of a person: finds out where, makes this client known there, opens the way back (SPEC AU-1, AU-3). */
import type { CallbackResult, SignInRequest } from '../../domain/authorization.ts';
import { signInTimeoutMs } from '../../domain/authorization.ts';
import { authorizationRequest } from './authorization-code.ts';
import { clientFor } from './clients.ts';
import type { Discovered } from './discovery.ts';
import { clientAuthentication } from './grants.ts';
import { newState, RunningSignIn } from './running-sign-in.ts';
import { chooseScope, withOfflineAccess } from './scopes.ts';
import type { ChosenScope } from './scopes.ts';
import { pinnedIssuer } from './token-source.ts';
import type { TokenSource } from './token-source.ts';
import { wayBack } from './way-back.ts';

export interface BeginOptions {
  readonly source: TokenSource;
  readonly request: SignInRequest;
  /** Takes the url the browser was sent back to. */
  readonly onCallback: (url: string) => Promise<CallbackResult>;
  /** The credentials are kept. */
  readonly onSignedIn: () => void;
}

/** @throws HoldfastError when nobody can be sent to sign in: `auth_required`, `protocol_error`, `server_unavailable`. */
export async function beginSignIn({ source, request, onCallback, onSignedIn }: BeginOptions): Promise<RunningSignIn> {
  const { config, secret } = source;
  const { host, clock, onSecret } = source.options;
  const state = newState();
  const entry = await source.entry();
  const found = await entry.read();
  const discovered = await source.withFetch((fetch) => source.discover(fetch));
  const scope = scopeFor(source, request, discovered);
  const known = found.issuers[discovered.issuer];
  const registered = known?.client?.redirect_uris;
  const back = await wayBack({ config, host, registered, onCallback });
  const { redirectUrl } = back;
  try {
    const client = await source.withFetch((fetch) =>
      clientFor({
        config,
        host,
        discovered,
        known: known?.client,
        pinnedIssuer: pinnedIssuer(found, config.clientId),
        redirectUrl,
        scope,
        now: clock.now(),
        fetch,
        secret,
      }),
    );
    if (client.client_secret !== undefined) onSecret(client.client_secret);
    const dpop = await source.session(known?.dpopKey);
    const authorization = await authorizationRequest({
      discovered,
      client,
      redirectUrl,
      state,
      scope,
      authentication: clientAuthentication({ config, client, secret }),
      dpop: dpop?.session,
      withFetch: (run, signal) => source.withFetch(run, signal),
      keep: async (tokens, asked, { signal, commit }) => {
        const onKept = (): void => {
          onSignedIn();
          commit();
        };
        const { key: dpopKey } = dpop ?? {};
        await source.keep(discovered, source.timed(tokens, asked), { client, dpopKey, signal, onKept });
      },
    });
    return new RunningSignIn(state, authorization, {
      timeoutMs: host.signInTimeoutMs ?? signInTimeoutMs,
      clock,
      onOver: () => {
        back.close();
      },
    });
  } catch (error) {
    back.close();
    throw error;
  }
}

function scopeFor(
  { config, challenge, wanted }: TokenSource,
  { scopes }: SignInRequest,
  { scopesSupported, metadata }: Discovered,
): ChosenScope {
  const chosen = chooseScope({
    explicit: scopes,
    configured: config.scopes,
    challenged: challenge?.scope,
    supported: scopesSupported,
    before: wanted,
  });
  const supported: unknown = metadata?.scopes_supported;
  return withOfflineAccess(chosen, Array.isArray(supported) ? supported.map(String) : []);
}
