/** A real authorization server in this process: `oidc-provider` on the loopback, with the pages it comes with. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import type { ClientMetadata, Configuration } from 'oidc-provider';

export interface AuthorizationServerOptions {
  /** Seconds an access token lives. Default 3600. */
  readonly accessTokenTtl?: number;
  /** Clients that were registered beforehand. */
  readonly clients?: readonly ClientMetadata[];
  /** Scopes it gives for a resource. Default `mcp:read mcp:write`. */
  readonly scopes?: string;
  /** Scopes it knows, and gives to nobody. */
  readonly neverGiven?: readonly string[];
}

/** A token as the server behind it sees it. */
export interface KnownToken {
  readonly scopes: ReadonlySet<string>;
  readonly jkt: string | undefined;
}

export class AuthorizationServer implements AsyncDisposable {
  /** Every request so far: method and path. */
  readonly requests: string[] = [];
  /** The bodies of token requests. */
  readonly grants: URLSearchParams[] = [];
  /** Answers a request instead of the provider; returns false to leave it. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  readonly #http: Server;
  readonly #provider: Provider;
  readonly issuer: string;

  private constructor(http: Server, port: number, options: AuthorizationServerOptions) {
    this.#http = http;
    this.issuer = `http://127.0.0.1:${String(port)}`;
    this.#provider = new Provider(this.issuer, configurationOf(options));
    this.#provider.on('server_error', (_context, error) => {
      process.stderr.write(`authorization server: ${error.stack ?? error.message}\n`);
    });
    const handle = this.#provider.callback();
    http.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.requests.push(`${request.method ?? ''} ${(request.url ?? '').split('?', 1)[0] ?? ''}`);
      if (request.url?.startsWith('/token') === true) this.#watch(request);
      if (this.intercept?.(request, response) === true) return;
      void handle(request, response);
    });
  }

  static async start(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
    const http = createServer();
    http.listen({ host: '127.0.0.1', port: 0 });
    await once(http, 'listening');
    const address = http.address();
    if (address === null || typeof address === 'string') throw new Error('Expected a TCP port.');
    return new AuthorizationServer(http, address.port, options);
  }

  /** How often a token was asked for with a grant. */
  count(grant: string): number {
    return this.grants.filter((body) => body.get('grant_type') === grant).length;
  }

  async find(token: string): Promise<KnownToken | undefined> {
    const found =
      (await this.#provider.AccessToken.find(token)) ?? (await this.#provider.ClientCredentials.find(token));
    if (found === undefined || found.isExpired) return undefined;
    const jkt: unknown = Reflect.get(found, 'jkt');
    return { scopes: new Set(found.scope?.split(' ')), jkt: typeof jkt === 'string' ? jkt : undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #watch(request: IncomingMessage): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => this.grants.push(new URLSearchParams(Buffer.concat(chunks).toString())));
  }
}

function configurationOf({
  accessTokenTtl = 3_600,
  clients = [],
  scopes = 'mcp:read mcp:write',
  neverGiven = [],
}: AuthorizationServerOptions): Configuration {
  return {
    clients: [...clients],
    cookies: { keys: ['a key for the cookies of a test'] },
    scopes: ['openid', 'offline_access', ...scopes.split(' '), ...neverGiven],
    rotateRefreshToken: true,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    pkce: { required: () => true },
    ttl: {
      AccessToken: accessTokenTtl,
      ClientCredentials: accessTokenTtl,
      RefreshToken: 86_400,
      Interaction: 600,
      Grant: 86_400,
      Session: 86_400,
      IdToken: 600,
    },
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: scopes,
          accessTokenFormat: 'opaque',
          accessTokenTTL: accessTokenTtl,
        }),
      },
    },
  };
}
