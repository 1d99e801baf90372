/** `holdfast/sdk-v1`: a client of the MCP SDK 1.x that is connected already, handed over as a server (SPEC ER-6). */
export { fromClient } from './from-client.ts';
export type { FromClientOptions } from './from-client.ts';
export type { V1Client, V1Transport } from './v1-client.ts';
