/** `holdfast/inspector`: the frames of the Stately inspector, and a server for them. */
export { createInspectorBridge } from './bridge.ts';
export type { InspectorBridge, InspectorBridgeOptions } from './bridge.ts';
export { createFrameRelay } from './relay.ts';
export type { FrameRelay } from './relay.ts';
export { createFrameServer } from './frame-server.ts';
export type { FrameServer, FrameServerOptions } from './frame-server.ts';
export type { Redact } from './plain.ts';
export type { FrameSink } from './viewers.ts';
