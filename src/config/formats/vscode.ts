/** VS Code: `mcp.json` with `servers` and `inputs`, and `mcp` in its settings. */
import { isRecord } from '../../domain/json.ts';
import { editorSyntax } from '../placeholders.ts';
import { commonFields, envFile, type FieldTable, inert } from './fields.ts';
import { type ConfigFormat, hasServers, isServerLike } from './format.ts';
import { isBareMap, readSections } from './sections.ts';

const fields: FieldTable = { ...commonFields, envFile, dev: inert, sandboxEnabled: inert, sandbox: inert };
const known = ['inputs'];

export const vscodeFormat: ConfigFormat = {
  id: 'vscode',
  product: 'VS Code',
  placeholders: editorSyntax,
  hint: /vscode/,
  detectPath: (path) =>
    /(?:^|\/)\.vscode\/(?:mcp|settings)\.json$|\/(?:Code|Code - Insiders|VSCodium)\/User\/(?:.*\/)?(?:mcp|settings)\.json$|\.code-workspace$/.test(
      path,
    ),
  detectContent: ({ root }) =>
    (hasServers(root['servers']) && !isServerLike(root['servers'])) ||
    (Array.isArray(root['inputs']) && isRecord(root['servers'])) ||
    settingsOf(root) !== undefined,
  read: (root) => {
    const settings = Object.hasOwn(root, 'servers') || Object.hasOwn(root, 'mcpServers') ? undefined : settingsOf(root);
    if (settings === undefined)
      return readSections(root, {
        wrapper: 'servers',
        others: ['mcpServers'],
        allowsBareMap: isBareMap(root),
        known,
        fields,
      });
    const leftOut = Object.keys(root).filter((key) => key !== 'mcp');
    return { ...readSections(settings, { wrapper: 'servers', known, fields }), leftOut };
  },
};

/** `mcp` of a settings file, or `settings.mcp` of a workspace file. */
function settingsOf(root: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const { settings } = root;
  const mcp = root['mcp'] ?? (isRecord(settings) ? settings['mcp'] : undefined);
  return isRecord(mcp) && isRecord(mcp['servers']) ? mcp : undefined;
}
