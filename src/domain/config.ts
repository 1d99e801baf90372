/** What a caller sets: servers, policy, limits (DESIGN §3, SPEC CA-2). Units are in the names. */
import type { Failure } from './errors.ts';

/** How calls are approved before they are sent (SPEC PO-1). */
export const approvalModes = ['auto', 'prompt', 'approve', 'writes'] as const;
/** How calls are approved before they are sent. */
export type ApprovalMode = (typeof approvalModes)[number];

/** The values of `protocol`. */
export const protocolModes = ['auto', 'legacy', '2026-07-28'] as const;
/** Which protocol era is spoken with a server. */
export type ProtocolMode = (typeof protocolModes)[number];

/** The values of `transport` for servers with a url. */
export const httpTransports = ['http', 'sse', 'auto'] as const;
/** Which HTTP transport a server is reached with. */
export type HttpTransport = (typeof httpTransports)[number];

/** The values of `logLevel`, from everything to the worst. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
/** How bad something is that a server logs. */
export type LogLevel = (typeof logLevels)[number];

/** The shape of an MCP transport: what the SDKs call `Transport`. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/** An MCP server that runs in this process: anything with the SDKs' `connect(transport)`. */
export interface McpServerLike {
  connect(transport: never): Promise<unknown>;
  close?(): Promise<unknown>;
}

/** Makes a fresh server for one connection. Called again for each reconnect. */
export type McpServerFactory = () => McpServerLike | Promise<McpServerLike>;

/** A server Holdfast starts as a child process and talks to over stdio. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the short list of variables every server gets (SPEC CN-1). */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Variable → name of the variable, where the server runs, that holds its value. `env` wins. One that is not set is left
   * out.
   */
  readonly envFrom?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The values of `oauth.grant`. */
export const oauthGrants = ['authorization_code', 'client_credentials', 'jwt_bearer', 'id_jag'] as const;
/**
 * How a token is come by: a person signs in (`authorization_code`), this program does as itself (`client_credentials`), with
 * the identity of its workload (`jwt_bearer`), or with the person's sign-in at the company's identity provider (`id_jag`).
 */
export type OAuthGrant = (typeof oauthGrants)[number];

/** How a server is signed in to. Secrets are named by the environment variables that hold them, here as elsewhere. */
export interface OAuthConfig {
  /** Default `authorization_code`. */
  readonly grant?: OAuthGrant;
  /** Of a client registered beforehand. Default: Holdfast registers one, or uses its metadata document. */
  readonly clientId?: string;
  /** Name of the environment variable that holds the client's secret. */
  readonly clientSecretVariable?: string;
  /** Name of the environment variable that holds the client's private key (PKCS #8 PEM): it signs instead of a secret. */
  readonly privateKeyVariable?: string;
  /** The algorithm of that key. Default `ES256`. */
  readonly signingAlgorithm?: string;
  /** Https url of this client's metadata document, used as its id where the authorization server knows such ids. */
  readonly clientMetadataUrl?: string;
  /** The authorization server that may see this client's credentials. Default: the first one the server named. */
  readonly issuer?: string;
  /** Asked for instead of those the server names. `[]`: none. */
  readonly scopes?: readonly string[];
  /** The resource tokens are asked for. Default: the one in the server's metadata. */
  readonly resource?: string;
  /** Where the browser comes back to on this machine: `http://localhost:<port>/callback`. Default: a free port. */
  readonly callbackPort?: number;
  /**
   * Where the browser comes back to. On this machine Holdfast listens there; else give what came to
   * `thread.finishAuthorization`. Wins over `callbackPort`.
   */
  readonly redirectUrl?: string;
  /** Bind tokens to a key of this client (DPoP). Default false. */
  readonly dpop?: boolean;
  /** `jwt_bearer`: name of the environment variable that holds the workload's token, read anew each time. */
  readonly assertionVariable?: string;
  /** `id_jag`: name of the environment variable that holds the person's ID token, read anew each time. */
  readonly idTokenVariable?: string;
  /** `id_jag`: the issuer url of the identity provider. */
  readonly identityProvider?: string;
  /** `id_jag`: the client id at the identity provider. Default: `clientId`. */
  readonly identityClientId?: string;
  /** `id_jag`: name of the environment variable that holds the client's secret at the identity provider. */
  readonly identityClientSecretVariable?: string;
}

/** A server reached over HTTP. */
export interface HttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Header name → name of the environment variable that holds its value. */
  readonly headersFrom?: Readonly<Record<string, string>>;
  /** Name of the environment variable that holds the bearer token. */
  readonly bearerTokenVariable?: string;
  /**
   * Gives headers anew when the server answers 401 to those it was sent; they win over all others. Called once at a time.
   * Files cannot set it: it is what a headers helper becomes once there is consent to run it.
   */
  readonly renewHeaders?: () => Promise<Readonly<Record<string, string>>>;
  /** A file of certificates (PEM): authorities that are trusted beside the usual ones. */
  readonly caFile?: string;
  /** `auto` tries Streamable HTTP, then the legacy SSE transport. Default `auto`. */
  readonly transport?: HttpTransport;
  readonly oauth?: OAuthConfig;
}

/** A transport the caller made. It is used once: such a server cannot reconnect. */
export interface GivenTransportServer {
  readonly transport: McpTransport;
}

/** A server that runs in this process. */
export interface InMemoryServer {
  readonly inMemory: McpServerFactory;
}

/** What every kind of server can set. */
export interface ServerSettings {
  /** Default true. */
  readonly enabled?: boolean;
  /** A runtime whose required server fails is not published (SPEC RT-3). Default false. */
  readonly required?: boolean;
  /** The environment the server runs in. Default `local`. */
  readonly environment?: string;
  /** Which protocol era to speak. Default `auto`. */
  readonly protocol?: ProtocolMode;
  /** Calls of one step may run at the same time. Default false (SPEC RT-9). */
  readonly parallel?: boolean;
  /** One call at a time, questions included: makes attribution on legacy stdio exact (SPEC EL-11). Default false. */
  readonly serialize?: boolean;
  /** From the start of the connection to the end of its first listing. Default 30,000. */
  readonly startTimeoutMs?: number;
  /** Per call; only time in which no question is open counts (SPEC EL-9). Default 300,000. */
  readonly callTimeoutMs?: number;
  /** How long one pause for a question may last. No limit by default. */
  readonly maxPauseMs?: number;
  /** `idempotent` sends a call again after a lost connection if the tool says it may (SPEC RT-10). Default `never`. */
  readonly retry?: 'never' | 'idempotent';
  readonly approval?: ApprovalMode;
  /**
   * A server is asked for log messages of this level and worse. Default: what it chooses in the legacy era, `info` in the
   * modern one, whose servers log nothing unasked. Another level is another connection.
   */
  readonly logLevel?: LogLevel;
  readonly tools?: ToolSettings;
  /**
   * Values of this configuration that are shown as they are, though values in their place are taken for secrets. Files cannot
   * set it: it is what references to folders become (`${workspaceFolderBasename}`).
   */
  readonly notSecret?: readonly string[];
}

/** Which tools of a server are offered, and how their calls are approved. */
export interface ToolSettings {
  /** Raw names. Absent: all. */
  readonly allow?: readonly string[];
  /** Raw names; wins over `allow`. */
  readonly deny?: readonly string[];
  readonly perTool?: Readonly<Record<string, { readonly approval?: ApprovalMode }>>;
}

/** One MCP server. Exactly one of `command`, `url`, `transport` (an object), `inMemory` says how it is reached. */
export type ServerConfig = (StdioServer | HttpServer | GivenTransportServer | InMemoryServer) & ServerSettings;

/** A server that cannot be started as it is configured, and why. */
export interface MisconfiguredServer extends Failure {
  /** The configuration says that nothing is published without it. Default false. */
  readonly required?: boolean;
}

/** Server name → configuration. */
export type ServerMap = Readonly<Record<string, ServerConfig>>;

/** Which questions reach the person. */
export interface ElicitationPolicy {
  /** Decline every question without showing it. Default false. */
  readonly autoDeny?: boolean;
  /** Accept a form without fields without showing it. Default false. */
  readonly acceptEmptyForms?: boolean;
  /** Whether forms are put to the person. Default true. */
  readonly forms?: boolean;
  /** Whether url questions are put to the person. Default true. */
  readonly urls?: boolean;
  /** Whether approvals are put to the person. Without, a call that needs one is declined. Default true. */
  readonly approvals?: boolean;
  /** Expires a question nobody answered in this time. No limit by default. */
  readonly unattendedMs?: number;
  /**
   * How long a reviewer may think before the question is put to the person as if it had no opinion. Counts from when it is
   * asked. Default 60,000.
   */
  readonly reviewerTimeoutMs?: number;
}

/** What is decided without the person, or asked of the person. */
export interface Policy {
  /** For servers and tools that set none of their own. */
  readonly approval?: ApprovalMode;
  /** Wins over the modes of servers and tools as well: for what a person says at the start. */
  readonly approvalOverride?: ApprovalMode;
  readonly elicitation?: ElicitationPolicy;
  /** Per-server overrides of `elicitation`, by raw server name. */
  readonly servers?: Readonly<Record<string, { readonly elicitation?: ElicitationPolicy }>>;
  /** Raw names of servers whose declarations (file parameters) are believed. */
  readonly trust?: readonly string[];
}

/** Bounds of a thread. Every one has a default. */
export interface Limits {
  /** How long `ready` and the first `beginStep` wait for the first runtime. Default 60,000. */
  readonly readyTimeoutMs?: number;
  /** Calls on the wire at once in one thread; paused calls do not count. Default 64. */
  readonly callsPerThread?: number;
  /** Calls on the wire at once on one connection. Default 16. */
  readonly callsPerServer?: number;
  /** Longest tool name shown to the model, 16 to 128. Default 64. */
  readonly maxToolNameLength?: number;
  /** Time optional new servers have before a replacement is published without them. Default 1,000. */
  readonly startGraceMs?: number;
  /** Settled tokens kept so that a late answer hears what became of its question. Default 10,000. */
  readonly settledTokens?: number;
}

/** The defaults of every setting above that has one. */
export const defaults = {
  startTimeoutMs: 30_000,
  callTimeoutMs: 300_000,
  readyTimeoutMs: 60_000,
  callsPerThread: 64,
  callsPerServer: 16,
  maxToolNameLength: 64,
  startGraceMs: 1_000,
  settledTokens: 10_000,
  reviewerTimeoutMs: 60_000,
} as const satisfies Limits & ServerSettings & ElicitationPolicy;
