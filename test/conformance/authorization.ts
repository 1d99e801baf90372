/** The scenarios in which the server has to be signed in to. */
import { HoldfastError } from 'holdfast';
import type { ElicitationAnswer, HttpServer, PendingElicitation } from 'holdfast';
import type { Conversation, Peer, Scenario } from './peer.ts';
import { contextOf } from './values.ts';

type OAuth = NonNullable<HttpServer['oauth']>;

/** The metadata document the suite knows this client by. */
const clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';

const signsIn = signingIn({});

/** The scenarios by the names the suite gives them. */
export const authorizationScenarios: Readonly<Record<string, Scenario>> = {
  'auth/2025-03-26-oauth-metadata-backcompat': signsIn,
  'auth/2025-03-26-oauth-endpoint-fallback': signsIn,
  'auth/metadata-default': signsIn,
  'auth/metadata-var1': signsIn,
  'auth/metadata-var2': signsIn,
  'auth/metadata-var3': signsIn,
  'auth/basic-cimd': signingIn({ clientMetadataUrl }),
  'auth/scope-from-www-authenticate': signsIn,
  'auth/scope-from-scopes-supported': signsIn,
  'auth/scope-omitted-when-undefined': signsIn,
  'auth/scope-step-up': signsIn,
  'auth/scope-retry-limit': refused,
  'auth/token-endpoint-auth-basic': signsIn,
  'auth/token-endpoint-auth-post': signsIn,
  'auth/token-endpoint-auth-none': signsIn,
  'auth/pre-registration': (peer) => signIn(peer, preRegistered(peer)),
  'auth/resource-mismatch': refused,
  'auth/offline-access-scope': signsIn,
  'auth/offline-access-not-supported': signsIn,
  'auth/authorization-server-migration': signsIn,
  'auth/iss-supported': signsIn,
  'auth/iss-not-advertised': signsIn,
  'auth/iss-supported-missing': refused,
  'auth/iss-wrong-issuer': refused,
  'auth/iss-unexpected': refused,
  'auth/iss-normalized': refused,
  'auth/metadata-issuer-mismatch': refused,
  'auth/client-credentials-jwt': (peer) => signIn(peer, byKey(peer)),
  'auth/client-credentials-basic': (peer) => signIn(peer, { ...preRegistered(peer), grant: 'client_credentials' }),
  'auth/enterprise-managed-authorization': (peer) => signIn(peer, byIdentityProvider(peer)),
  'auth/dpop': signingIn({ dpop: true }),
  'auth/dpop-nonce': signingIn({ dpop: true }),
  'auth/wif-jwt-bearer': (peer) => signIn(peer, byWorkload(peer)),
};

function signingIn(oauth: OAuth): Scenario {
  return (peer) => signIn(peer, oauth);
}

async function signIn(peer: Peer, oauth: OAuth): Promise<void> {
  await peer.converse(callTwice, { server: { oauth }, person: openPage });
}

/** Twice: what was granted for the first call may not be enough for the second, or not be any more. */
async function callTwice({ call }: Conversation): Promise<void> {
  await call('test-tool');
  await call('test-tool');
}

/** The server, or where it sends this client, is not to be trusted: there is no way in. */
async function refused(peer: Peer): Promise<void> {
  try {
    await signIn(peer, {});
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    process.stderr.write(`Refused, as it should be. ${error.code}: ${error.message}\n`);
    return;
  }
  throw new Error('Expected that the server cannot be signed in to. It could.');
}

/** Opens the page of a question as a browser does, which ends where the client waits for it. */
async function openPage({ kind, url }: PendingElicitation): Promise<ElicitationAnswer> {
  if (kind !== 'url' || url === undefined) throw new Error(`Expected a url to open, got a question of kind "${kind}".`);
  const response = await fetch(url);
  await response.text();
  return { action: 'accept' };
}

function preRegistered(peer: Peer): OAuth {
  return { clientId: textOf(peer, 'client_id'), clientSecretVariable: variableOf(peer, 'client_secret') };
}

function byKey(peer: Peer): OAuth {
  return {
    grant: 'client_credentials',
    clientId: textOf(peer, 'client_id'),
    privateKeyVariable: variableOf(peer, 'private_key_pem'),
    signingAlgorithm: textOf(peer, 'signing_algorithm'),
  };
}

function byWorkload(peer: Peer): OAuth {
  return {
    grant: 'jwt_bearer',
    clientId: textOf(peer, 'client_id'),
    assertionVariable: variableOf(peer, 'valid_jwt'),
  };
}

function byIdentityProvider(peer: Peer): OAuth {
  return {
    ...preRegistered(peer),
    grant: 'id_jag',
    identityProvider: textOf(peer, 'idp_issuer'),
    identityClientId: textOf(peer, 'idp_client_id'),
    idTokenVariable: variableOf(peer, 'idp_id_token'),
  };
}

function textOf(peer: Peer, key: string): string {
  const context = contextOf(peer);
  const value = context[key];
  if (typeof value === 'string') return value;
  throw new Error(`Expected "${key}" in the context of the scenario, got ${JSON.stringify(context)}.`);
}

/** Puts a secret of the context where a configuration names it from: an environment variable. */
function variableOf(peer: Peer, key: string): string {
  const name = `CONFORMANCE_${key.toUpperCase()}`;
  process.env[name] = textOf(peer, key);
  return name;
}
