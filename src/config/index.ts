/** `holdfast/config`: configuration files and server maps to what a thread takes. */
export {
  parsePluginConfig,
  type ParsePluginOptions,
  type PluginConfig,
  type PluginWarning,
} from '../catalog/plugin-config.ts';
export type { AskedCommand, CommandRunner } from './consent.ts';
export { configFormatIds } from './formats/format.ts';
export type { ConfigFormatId } from './formats/format.ts';
export {
  importConfig,
  type ImportDiagnostic,
  type ImportedConfig,
  type ImportedServer,
  type ImportedTools,
  type ImportOptions,
} from './import-config.ts';
export { importFiles, type ImportReport, type NormalForm, redactImport } from './import-files.ts';
export { type ConfigPlace, type ConfigPlaces, readPlaces } from './places.ts';
export type { Environment } from './placeholders.ts';
export {
  type ConfigValues,
  type ConfigWarning,
  findConfig,
  readConfig,
  type ReadConfigOptions,
  type ResolvedConfig,
} from './read-config.ts';
export { parseServerMap, type ParseServerMapOptions } from './server-map.ts';
export { findUsualFiles, type UsualFilesOptions } from './usual-files.ts';
export { watchConfig, type WatchConfigOptions, type WatchWarning } from './watch.ts';
