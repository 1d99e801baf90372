/** `holdfast.json`, and any file of no known tool with `mcpServers` (SPEC CA-1). */
import { ownSyntax } from '../placeholders.ts';
import { commonFields } from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

export const holdfastFormat: ConfigFormat = {
  id: 'holdfast',
  product: 'Holdfast',
  placeholders: ownSyntax,
  hasSections: true,
  hint: /holdfast/,
  detectPath: (path) => /(?:^|\/)holdfast\.jsonc?$/.test(path),
  detectContent: () => false,
  read: (root) =>
    readSections(root, {
      wrapper: 'mcpServers',
      others: ['servers'],
      allowsBareMap: true,
      known: ['policy', 'limits'],
      fields: commonFields,
    }),
};
