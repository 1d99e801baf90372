/** Windsurf, and other tools with an `mcp_config.json`. */
import { editorSyntax } from '../placeholders.ts';
import { commonFields } from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

export const windsurfFormat: ConfigFormat = {
  id: 'mcp_config',
  product: 'Windsurf (mcp_config.json)',
  placeholders: editorSyntax,
  hint: /windsurf|mcp_config/,
  detectPath: (path) => /(?:^|\/)mcp_config\.json$/.test(path),
  detectContent: () => false,
  read: (root) => readSections(root, { wrapper: 'mcpServers', others: ['servers'], fields: commonFields }),
};
