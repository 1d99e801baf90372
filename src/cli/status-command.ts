/** `holdfast status`: starts every server and says how it is, in as much detail as is asked for (SPEC CL-1, RE-3). */
import type { ListingStatus, ServerStatus, StatusDetail, ThreadStatus, ToolStatus } from '../index.ts';
import { checkServer } from './check-server.ts';
import { formatServers, type Painter } from './format.ts';
import { brokenOf, guarded, type OneShot, print } from './one-shot.ts';
import { oneLine, plain } from './terminal.ts';
import { exitCodes } from './usage-error.ts';

/** The values of `--detail`. */
export const details = ['summary', 'tools', 'full'] as const satisfies readonly StatusDetail[];

/** What is to be shown. */
export interface StatusCommandOptions {
  /** Empty: all. */
  readonly servers: readonly string[];
  readonly detail?: StatusDetail;
}

/** Shows the servers; resolves with the exit code, which is 1 when one is broken. */
export async function runStatus({ servers, detail }: StatusCommandOptions, shot: OneShot): Promise<number> {
  return guarded(shot, async () => {
    const { thread, signal, terminal } = shot;
    await thread.ready({ signal }).catch((error: unknown) => {
      // What failed is what `status` shows, if there is anything to show.
      if (signal.aborted || thread.snapshot().servers.length === 0) throw error;
    });
    for (const server of servers) checkServer(server, thread.snapshot().servers);
    const status = await thread.status({
      signal,
      ...(detail === undefined ? {} : { detail }),
      ...(servers.length === 0 ? {} : { servers }),
    });
    if (shot.json) print(shot, status);
    else {
      const missing = servers.length === 0 ? missingLines(status, terminal) : [];
      terminal.output.write(`${[formatStatus(status.servers, terminal), ...missing].join('\n')}\n`);
    }
    return brokenOf(status.servers).length > 0 ? exitCodes.failed : exitCodes.ok;
  });
}

/** The servers, each with what was asked for below. */
export function formatStatus(servers: readonly ServerStatus[], painter: Painter): string {
  if (servers.length === 0) return 'No servers.';
  const width = Math.min(40, Math.max(...servers.map((server) => server.name.length)));
  return servers
    .flatMap((server) => [
      formatServers([server], painter, width),
      ...(server.toolList ?? []).map((tool) => toolLine(tool, painter)),
      ...listingLines('resources', 'uri', server.resources, painter),
      ...listingLines('templates', 'uriTemplate', server.resourceTemplates, painter),
      ...listingLines('prompts', 'name', server.prompts, painter),
    ])
    .join('\n');
}

/** What is not among the servers, and why. */
function missingLines({ removed = {}, plugins = [] }: ThreadStatus, { paint }: Painter): readonly string[] {
  return [
    ...Object.values(removed).map(({ message }) => paint('dim', oneLine(message, 300))),
    ...plugins
      .filter(({ state }) => state !== 'ready')
      .map(({ id, environment, state, reason }) => {
        const why = reason === undefined ? '' : `: ${oneLine(reason, 300)}`;
        return paint(
          'dim',
          `Plugin "${plain(id)}" waits for environment "${plain(environment)}", which is ${state}${why}`,
        );
      }),
  ];
}

function toolLine({ tool, name, title, missing }: ToolStatus, { paint }: Painter): string {
  if (missing !== undefined)
    return `  ${paint('yellow', '-')} ${plain(tool)}  ${paint('dim', `${missing.reason}: ${oneLine(missing.message, 300)}`)}`;
  const says = title === undefined ? '' : `  ${paint('dim', oneLine(title, 100))}`;
  return `  ${paint('green', '+')} ${paint('cyan', plain(name ?? tool))}${says}`;
}

function listingLines(
  title: string,
  key: string,
  listing: ListingStatus | undefined,
  { paint }: Painter,
): readonly string[] {
  if (listing === undefined) return [];
  const { items, count, failure } = listing;
  if (failure !== undefined) return [`  ${title}  ${paint('red', oneLine(failure.message, 300))}`];
  if (count === 0) return [];
  return [`  ${title}`, ...items.map((item) => `    ${oneLine(nameOf(item[key]), 200)}`)];
}

/** Every entry was checked to have a text there. */
function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
