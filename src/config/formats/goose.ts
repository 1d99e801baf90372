/** goose: `extensions` in `config.yaml`. */
import { isRecord } from '../../domain/json.ts';
import { dollarSyntax } from '../placeholders.ts';
import { args, as, envFile, type FieldReader, type FieldTable, inert, time } from './fields.ts';
import type { ConfigFormat } from './format.ts';
import { readSections } from './sections.ts';

/** Names of variables whose values goose keeps in its keyring; here they come from the environment. */
const envKeys: FieldReader = (draft, value, name) => {
  for (const key of Array.isArray(value) ? value : []) {
    if (typeof key === 'string') draft.variables.set(key, { from: key, isRequired: true });
    else draft.ignore(name, value, 'something in it is no name');
  }
};

/** An empty list stands for all tools. */
const availableTools: FieldReader = (draft, value, name) => {
  if (Array.isArray(value) && value.length > 0) draft.setWithin('tools', 'allow', value, name);
  else draft.keep(name, value);
};

const builtIn: ReadonlySet<unknown> = new Set(['builtin', 'platform', 'frontend', 'inline_python']);

const fields: FieldTable = {
  type: (draft, value, name) => {
    if (!builtIn.has(value)) draft.set('type', value, name);
    else
      draft.leftOut = {
        code: 'needs-extension',
        message: `it is of the type "${String(value)}", which only goose itself runs.`,
      };
  },
  cmd: as('command'),
  args,
  envs: as('env'),
  env_keys: envKeys,
  env_file: envFile,
  cwd: as('cwd'),
  uri: as('url'),
  url: as('url'),
  headers: as('headers'),
  timeout: time('callTimeoutMs', 1_000),
  enabled: as('enabled'),
  available_tools: availableTools,
  name: inert,
  display_name: inert,
  description: inert,
  bundled: inert,
};

/** Older files have the settings of an extension one level down. */
function flat(entry: unknown): unknown {
  if (!isRecord(entry) || !isRecord(entry['config'])) return entry;
  const { config, ...rest } = entry;
  return { ...config, ...rest };
}

export const gooseFormat: ConfigFormat = {
  id: 'goose',
  product: 'goose',
  placeholders: { ...dollarSyntax, fields: ['headers'] },
  hint: /goose/,
  detectPath: (path) => /(?:^|\/)\.?goose\/(?:config\/)?config\.yaml$/.test(path),
  detectContent: ({ root }) =>
    isRecord(root['extensions']) &&
    Object.values(root['extensions'])
      .map(flat)
      .some((entry) => isRecord(entry) && ('cmd' in entry || 'uri' in entry || builtIn.has(entry['type']))),
  read: (root) => {
    const { extensions } = root;
    const section = isRecord(extensions)
      ? Object.fromEntries(Object.entries(extensions).map(([name, entry]) => [name, flat(entry)]))
      : extensions;
    return readSections(extensions === undefined ? root : { ...root, extensions: section }, {
      wrapper: 'extensions',
      fields,
    });
  },
};
