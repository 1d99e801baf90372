/** Zed: `context_servers` in its settings. */
import { isRecord } from '../../domain/json.ts';
import { editorSyntax } from '../placeholders.ts';
import { commandList, commonFields, type FieldTable, inert, time } from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

const fields: FieldTable = {
  ...commonFields,
  source: (draft, value, name) => {
    if (value !== 'custom') draft.keep(name, value);
  },
  settings: inert,
  remote: inert,
  timeout: time('callTimeoutMs', 1),
  command: (draft, value, name) => {
    if (!isRecord(value)) {
      commandList(draft, value, name);
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'path') draft.set('command', inner, `${name}.${key}`);
      else if (key === 'timeout') time('callTimeoutMs', 1)(draft, inner, `${name}.${key}`);
      else if (['args', 'env', 'cwd'].includes(key)) draft.set(key, inner, `${name}.${key}`);
      else draft.keepUnknown(`${name}.${key}`, inner);
    }
  },
};

export const zedFormat: ConfigFormat = {
  id: 'zed',
  product: 'Zed',
  placeholders: editorSyntax,
  hint: /\bzed\b/,
  detectPath: (path) => /(?:^|\/)\.?zed\/settings\.json$/i.test(path),
  detectContent: ({ root }) => Object.hasOwn(root, 'context_servers'),
  read: (root) => {
    const reading = readSections(root, { wrapper: 'context_servers', others: ['mcpServers'], fields });
    for (const { draft } of reading.entries) {
      if (draft === undefined || draft.fields.has('command') || draft.fields.has('url')) continue;
      if (draft.kept.get('source') === 'extension' || draft.kept.has('settings'))
        draft.leftOut = {
          code: 'needs-extension',
          message: 'it is started by an extension of Zed. Give its command or url to use it here.',
        };
    }
    return reading;
  },
};
