/** Cline and Roo Code: times in seconds. */
import { editorSyntax } from '../placeholders.ts';
import { commonFields, type FieldTable, inert, time } from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

const fields: FieldTable = { ...commonFields, timeout: time('callTimeoutMs', 1_000), watchPaths: inert };

export const clineFormat: ConfigFormat = {
  id: 'cline',
  product: 'Cline',
  placeholders: editorSyntax,
  hint: /cline/,
  detectPath: (path) => /(?:^|\/)cline_mcp_settings\.json$/.test(path),
  detectContent: () => false,
  read: (root) => readSections(root, { wrapper: 'mcpServers', fields }),
};

export const rooFormat: ConfigFormat = {
  id: 'roo',
  product: 'Roo Code',
  placeholders: editorSyntax,
  hint: /\broo\b/,
  detectPath: (path) => /(?:^|\/)\.roo\/mcp\.json$|roo-cline\/settings\/(?:cline_)?mcp_settings\.json$/.test(path),
  detectContent: () => false,
  read: (root) => readSections(root, { wrapper: 'mcpServers', fields }),
};
