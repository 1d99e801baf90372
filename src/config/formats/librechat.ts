/** LibreChat: `mcpServers` in `librechat.yaml`. */
import { librechatSyntax } from '../placeholders.ts';
import { commonFields, type FieldTable, inert, time } from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

const fields: FieldTable = {
  ...commonFields,
  timeout: time('callTimeoutMs', 1),
  initTimeout: time('startTimeoutMs', 1),
  iconPath: inert,
  chatMenu: inert,
  serverInstructions: inert,
  customUserVars: inert,
  requiresOAuth: inert,
  startup: inert,
  stderr: inert,
};

export const librechatFormat: ConfigFormat = {
  id: 'librechat',
  product: 'LibreChat',
  placeholders: librechatSyntax,
  hint: /librechat/,
  detectPath: (path) => /(?:^|\/)librechat[^/]*\.ya?ml$/.test(path),
  detectContent: ({ syntax, root }) =>
    syntax === 'yaml' &&
    Object.hasOwn(root, 'mcpServers') &&
    ['endpoints', 'interface', 'cache', 'registration', 'mcpSettings'].some((key) => Object.hasOwn(root, key)),
  read: (root) => readSections(root, { wrapper: 'mcpServers', known: ['version'], fields }),
};
