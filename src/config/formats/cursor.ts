/** Cursor: `.cursor/mcp.json`. */
import { editorSyntax } from '../placeholders.ts';
import { claudeFields } from './claude-code.ts';
import { envFile } from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

export const cursorFormat: ConfigFormat = {
  id: 'cursor',
  product: 'Cursor',
  placeholders: editorSyntax,
  hint: /cursor/,
  detectPath: (path) => /(?:^|\/)\.cursor\/mcp\.json$/.test(path),
  detectContent: () => false,
  read: (root) =>
    readSections(root, { wrapper: 'mcpServers', others: ['servers'], fields: { ...claudeFields, envFile } }),
};
