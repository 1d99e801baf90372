/**
 * The client that the official conformance suite tests: Holdfast by its public entries, and nothing else.
 *
 * The suite starts it once for each scenario, as `client <server url>`, and says the rest in the environment: the name of
 * the scenario, the revision to speak and, for some, a context in JSON. Exits with 0 when everything went as it should.
 */
import { HoldfastError } from 'holdfast';
import { createPeer } from './peer.ts';
import { scenarios } from './scenarios.ts';

/** The suite gives up after 30 s, and leaves behind what does not end by itself. */
const timeLimitMs = 25_000;

async function play(): Promise<void> {
  const url = process.argv[2];
  const name = process.env['MCP_CONFORMANCE_SCENARIO'];
  if (url === undefined || name === undefined)
    throw new Error('Expected a url as argument and MCP_CONFORMANCE_SCENARIO in the environment.');
  const scenario = scenarios[name];
  if (scenario === undefined)
    throw new Error(`Expected a scenario with a handler, got "${name}". Add it to scenarios.ts.`);
  const revision = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] ?? '2025-11-25';
  const context: unknown = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');
  await scenario(createPeer({ url, revision, context }));
}

function told(error: unknown): string {
  if (!(error instanceof HoldfastError)) return error instanceof Error ? String(error.stack) : String(error);
  return `${error.code}: ${error.message}\n${JSON.stringify(error.issues ?? [])}\n`;
}

const watchdog = setTimeout(() => {
  process.stderr.write(`The scenario did not end within ${timeLimitMs / 1_000} s.\n`);
  process.exit(1);
}, timeLimitMs);
try {
  await play();
} catch (error) {
  process.stderr.write(told(error));
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
}
