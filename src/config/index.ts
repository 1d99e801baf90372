/** `holdfast/config`: configuration files and server maps to what a thread takes. */
export type { Environment } from './placeholders.ts';
export {
  parsePluginConfig,
  type ParsePluginOptions,
  type PluginConfig,
  type PluginWarning,
} from '../catalog/plugin-config.ts';
export {
  type ConfigWarning,
  findConfig,
  readConfig,
  type ReadConfigOptions,
  type ResolvedConfig,
} from './read-config.ts';
export { parseServerMap, type ParseServerMapOptions } from './server-map.ts';
