/** MCP Hub: `servers.json`, in JSON5, with commands in placeholders. */
import { isRecord } from '../../domain/json.ts';
import { hubSyntax } from '../placeholders.ts';
import { commonFields, type FieldReader, type FieldTable, inert } from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

/** `null` and `""` take the variable of that name from the environment. */
const env: FieldReader = (draft, value, name) => {
  if (!isRecord(value)) {
    draft.set('env', value, name);
    return;
  }
  const written = Object.entries(value).filter(([key, inner]) => {
    if (inner !== null && inner !== '') return true;
    draft.variables.set(key, { from: key, isRequired: true });
    return false;
  });
  draft.set('env', Object.fromEntries(written), name);
};

const fields: FieldTable = {
  ...commonFields,
  env,
  disabled_prompts: inert,
  disabled_resources: inert,
  disabled_resourceTemplates: inert,
  custom_instructions: inert,
  dev: inert,
};

export const mcpHubFormat: ConfigFormat = {
  id: 'mcp-hub',
  product: 'MCP Hub',
  placeholders: hubSyntax,
  hint: /mcp-?hub/,
  detectPath: (path) => /(?:^|\/)\.?mcphub\/servers\.json$/.test(path),
  detectContent: ({ root }) => isRecord(root['nativeMCPServers']),
  read: (root) =>
    readSections(root, { wrapper: 'mcpServers', others: ['servers'], known: ['nativeMCPServers', 'inputs'], fields }),
};
