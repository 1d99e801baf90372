/** Claude Desktop: `claude_desktop_config.json`. */
import { editorSyntax } from '../placeholders.ts';
import { claudeFields } from './claude-code.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

export const claudeDesktopFormat: ConfigFormat = {
  id: 'claude-desktop',
  product: 'Claude Desktop',
  placeholders: editorSyntax,
  hint: /desktop/,
  detectPath: (path) => /(?:^|\/)claude_desktop_config\.json$/.test(path),
  detectContent: () => false,
  read: (root) => readSections(root, { wrapper: 'mcpServers', others: ['servers'], fields: claudeFields }),
};
