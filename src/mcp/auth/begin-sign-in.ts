/** Begins the sign-in of a person: finds out where, makes this client known there, opens the way back (SPEC AU-1, AU-3). */
import type { CallbackResult, SignInRequest } from '../../domain/authorization.ts';
import { signInTimeoutMs } from '../../domain/authorization.ts';
import { authorizationRequest } from './authorization-code.ts';
import { clientFor, mayBeUsed, registeredClient } from './clients.ts';
import type { ClientOptions } from './clients.ts';
import type { KnownClient } from './credentials.ts';
import type { Discovered } from './discovery.ts';
import { clientAuthentication } from './grants.ts';
import { Registrations } from './registrations.ts';
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
  const own = found.issuers[discovered.issuer];
  const registrations = new Registrations(await source.options.store(), discovered.issuer, source.closing.signal);
  const isUsable = (each: KnownClient): boolean => mayBeUsed(each, { host, scope, now: clock.now() });
  const known = (await registrations.list(own?.client)).filter(isUsable);
  const registered = known.flatMap(({ redirect_uris }) => redirect_uris ?? []);
  const back = await wayBack({ config, host, registered, onCallback });
  const { redirectUrl } = back;
  /** The client to use: `how` finds one, or registers it. */
  const clientBy = async (how: (options: ClientOptions) => Promise<KnownClient>): Promise<KnownClient> => {
    const client = await source.withFetch((fetch) =>
      how({
        config,
        host,
        discovered,
        known,
        pinnedIssuer: pinnedIssuer(found, config.clientId),
        redirectUrl,
        scope,
        now: clock.now(),
        fetch,
        secret,
      }),
    );
    if (client.client_secret !== undefined) onSecret(client.client_secret);
    if (client.client_name !== undefined) await registrations.began(client);
    return client;
  };
  try {
    const client = await clientBy(clientFor);
    const dpop = await source.session(own?.dpopKey);
    const authorization = await authorizationRequest({
      discovered,
      client,
      redirectUrl,
      state,
      scope,
      authentication: clientAuthentication({ config, client, secret }),
      widen: () => clientBy(registeredClient),
      onClientUnknown: async ({ client_id }) => {
        await registrations.forget(client_id);
        await entry.change(discovered.issuer, source.closing.signal, ({ client: kept, ...rest }) =>
          kept?.client_id === client_id ? rest : undefined,
        );
      },
      dpop: dpop?.session,
      withFetch: (run, signal) => source.withFetch(run, signal),
      keep: async (tokens, asked, usedClient, { signal, commit }) => {
        const onKept = (): void => {
          onSignedIn();
          commit();
        };
        const { key: dpopKey } = dpop ?? {};
        await source.keep(discovered, source.timed(tokens, asked), { client: usedClient, dpopKey, signal, onKept });
        if (usedClient.client_name !== undefined) await registrations.succeeded(usedClient);
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
