/** From what was seen of a server to what is said about it. */
import { type Failure, defaults, type ServerConfig, type ServerSnapshot } from '../../index.ts';
import { type MissingTool, type ServerCheck, withoutName } from './check.ts';
import { hostHints } from './host-hints.ts';
import { launchHints, silenceHints, stderrHints } from './launch-hints.ts';
import { otherWays, otherWayTimeoutMs } from './other-ways.ts';
import { type SeenServer, type Trial, type TrialOptions, tryServer } from './trial.ts';

/** What a diagnosis needs besides the server. */
export interface DiagnoseOptions extends Omit<TrialOptions, 'startTimeoutMs'> {
  /** Wins over the limit of the server. */
  readonly startTimeoutMs?: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command that signs in to it. */
  readonly login: string;
}

/** The most lines of one kind that are said. */
const mostHints = 8;

/** Starts one server and says how it is. */
export async function diagnose(name: string, config: ServerConfig, options: DiagnoseOptions): Promise<ServerCheck> {
  if (config.enabled === false)
    return { server: name, verdict: 'off', message: 'Disabled: "enabled" is false.', hints: [], state: 'disabled' };
  if (options.signal.aborted) return unchecked(name);
  const startTimeoutMs = options.startTimeoutMs ?? config.startTimeoutMs ?? defaults.startTimeoutMs;
  const trial = await tryServer(name, config, { ...options, startTimeoutMs });
  const { server } = trial;
  if (server === undefined) return unchecked(name);
  const base = { server: name, ...factsOf(server), tookMs: trial.tookMs };
  if (server.state === 'ready' || server.state === 'degraded')
    return upCheck(base, trial, server, config, startTimeoutMs);
  const failure = server.error ?? noWord(startTimeoutMs);
  return {
    ...base,
    verdict: 'mend',
    message: withoutName(failure.message, name),
    hints: [...(await hintsOf(name, config, server, trial, options)), ...noiseOf(trial)],
    error: failure,
  };
}

/** A server that cannot be started as it is configured. */
export function misconfiguredCheck(server: string, failure: Failure): ServerCheck {
  return {
    server,
    verdict: 'mend',
    message: withoutName(failure.message, server),
    hints: [],
    state: 'misconfigured',
    error: failure,
  };
}

function unchecked(server: string): ServerCheck {
  return { server, verdict: 'unchecked', message: 'Not checked: the check was ended before.', hints: [] };
}

function upCheck(
  base: Omit<ServerCheck, 'verdict' | 'message' | 'hints'>,
  trial: Trial,
  server: ServerSnapshot,
  config: ServerConfig,
  startTimeoutMs: number,
): ServerCheck {
  const { status } = trial;
  const missing = missingOf(status);
  const dropped = missing.filter(({ reason }) => reason === 'dropped').length;
  const isWhole = server.state === 'ready' && dropped === 0;
  const problem = server.error === undefined ? undefined : withoutName(server.error.message, server.name);
  return {
    ...base,
    verdict: isWhole ? 'right' : 'mend',
    message: isWhole
      ? 'Ready.'
      : (problem ??
        (dropped === 0 ? 'It works in part.' : `It works, but ${countOf(dropped)} cannot be used: tell its author.`)),
    hints: [
      ...(server.state === 'ready'
        ? strangersOf(config, status)
        : ['The server itself runs: look at its log, or tell its author.']),
      ...(trial.tookMs > startTimeoutMs / 2
        ? [`It took ${trial.tookMs} ms to start, of at most ${startTimeoutMs}. Raise "startTimeoutMs".`]
        : []),
      ...noiseOf(trial),
    ],
    ...(server.error === undefined ? {} : { error: server.error }),
    tools: {
      listed: status?.tools.listed ?? server.toolCount,
      shown: status?.tools.shown ?? server.toolCount,
      missing,
    },
  };
}

function factsOf(server: ServerSnapshot): Omit<ServerCheck, 'server' | 'verdict' | 'message' | 'hints'> {
  const { state, transport, era, protocolVersion, serverInfo, auth } = server;
  return {
    state,
    transport,
    auth,
    ...(era === undefined ? {} : { era }),
    ...(protocolVersion === undefined ? {} : { protocolVersion }),
    ...(serverInfo === undefined ? {} : { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
  };
}

function missingOf(status: SeenServer | undefined): readonly MissingTool[] {
  return (status?.toolList ?? []).flatMap(({ tool, missing }) =>
    missing === undefined ? [] : [{ tool, reason: missing.reason, message: missing.message }],
  );
}

/** Names in the filters of a server that it does not have: they do nothing, or hide everything. */
function strangersOf({ tools }: ServerConfig, status: SeenServer | undefined): readonly string[] {
  if (status?.toolList === undefined) return [];
  const known = new Set(status.toolList.map(({ tool }) => tool));
  const named = [...(tools?.allow ?? []), ...(tools?.deny ?? []), ...Object.keys(tools?.perTool ?? {})];
  const strange = [...new Set(named)].filter((tool) => !known.has(tool));
  return strange.length === 0
    ? []
    : [`It has no ${strange.map((tool) => `"${tool}"`).join(', ')}, named in "tools": correct the name.`];
}

function countOf(tools: number): string {
  return tools === 1 ? '1 tool' : `${tools} tools`;
}

/** What the server wrote where only messages may be, and the like. */
function noiseOf({ warnings }: Trial): readonly string[] {
  const told = warnings.filter(({ code }) => code !== 'tool_dropped');
  return [...new Set(told.map(({ message, server = '' }) => withoutName(message, server)))].slice(0, mostHints);
}

async function hintsOf(
  name: string,
  config: ServerConfig,
  server: ServerSnapshot,
  { warnings }: Trial,
  options: DiagnoseOptions,
): Promise<readonly string[]> {
  const { error } = server;
  if (server.state === 'authRequired' || error?.code === 'auth_required')
    return [`Run this to sign in, or configure its credential: ${options.login}`];
  if (server.state === 'misconfigured' || error === undefined) return [];
  // What is not on this machine cannot be looked at.
  if (config.environment !== undefined && config.environment !== 'local') return [];
  if ('command' in config) {
    if (error.code === 'timeout')
      return warnings.some(({ code }) => code === 'stdout_noise') ? [] : silenceHints(config);
    const launch = launchHints(config, options.env);
    if (launch.length > 0) return launch;
  }
  const ways = await waysThatWork(name, config, error, options);
  if (ways.length > 0) return ways.slice(0, 1);
  if ('url' in config && error.code === 'server_unavailable') return hostHints(config.url, options.env);
  return 'command' in config && error.stderr !== undefined ? stderrHints(config, error.stderr, options.env) : [];
}

async function waysThatWork(
  name: string,
  config: ServerConfig,
  error: Failure,
  options: DiagnoseOptions,
): Promise<readonly string[]> {
  if (error.code !== 'protocol_error' && error.code !== 'server_unavailable') return [];
  const tried = await Promise.all(
    otherWays(config).map(async ({ config: other, hint }) => {
      const { server } = await tryServer(name, other, { ...options, startTimeoutMs: otherWayTimeoutMs });
      // What asks for a login is the server as well.
      const isThere = server?.state === 'ready' || server?.state === 'degraded' || server?.state === 'authRequired';
      return isThere ? [hint] : [];
    }),
  );
  return tried.flat();
}

function noWord(startTimeoutMs: number): Failure {
  const message = `Expected it to start within ${startTimeoutMs} ms, got no word of it. Raise "startTimeoutMs".`;
  return { code: 'timeout', message, retryable: true };
}
