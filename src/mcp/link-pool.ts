/**
 * How the threads of one host open links: what may be shared among them is, everything else is opened for the one that asks.
 *
 * The protocol edge, and with it the MCP SDK, is loaded with the first server; what sharing takes, with the first server that
 * may be shared.
 */
import type { OpenLink, OpenLinkOptions } from '../domain/link.ts';

/** Opens a link that nothing is shared with. */
export const openLinkAlone: OpenLink = async (options) => {
  const { openLink } = await import('./open-link.ts');
  return openLink(options);
};

/** Makes what the threads of one host open their links with (SPEC CN-6). */
export function createLinkPool(): OpenLink {
  let shared: Promise<OpenLink> | undefined;
  return async (options) => {
    if (!mayBeShared(options)) return openLinkAlone(options);
    shared ??= import('./shared-links.ts').then(({ createSharedLinks }) => createSharedLinks());
    return (await shared)(options);
  };
}

/** Whether a server may turn out to be a modern one over HTTP: nothing else is ever shared (H8). */
function mayBeShared({ config, verdict }: OpenLinkOptions): boolean {
  return 'url' in config && config.transport !== 'sse' && config.protocol !== 'legacy' && verdict?.era !== 'legacy';
}
