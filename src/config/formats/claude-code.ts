/** Claude Code: `.mcp.json` of a project or a plugin, and `~/.claude.json` with the servers of a user and of projects. */
import { isRecord } from '../../domain/json.ts';
import { editorSyntax } from '../placeholders.ts';
import { commonFields, type FieldTable, time } from './fields.ts';
import type { ConfigFormat, NamedDraft, Reading } from './format.ts';
import { isBareMap, noSection, readSections } from './sections.ts';

/** The fields of Claude Code and of what reads its files. */
export const claudeFields: FieldTable = { ...commonFields, timeout: time('callTimeoutMs', 1) };

export const claudeCodeFormat: ConfigFormat = {
  id: 'claude-mcp-json',
  product: 'Claude Code (.mcp.json)',
  placeholders: editorSyntax,
  hasSections: true,
  hint: /claude/,
  detectPath: (path) => /(?:^|\/)\.mcp\.json$/.test(path),
  // Only plugins have servers without a wrapper.
  detectContent: ({ root }) => isBareMap(root),
  read: (root) =>
    readSections(root, {
      wrapper: 'mcpServers',
      others: ['servers'],
      allowsBareMap: true,
      known: ['policy', 'limits'],
      fields: claudeFields,
    }),
};

export const claudeUserFormat: ConfigFormat = {
  id: 'claude-json',
  product: 'Claude Code (.claude.json)',
  placeholders: editorSyntax,
  detectPath: (path) => /(?:^|\/)\.claude\.json$/.test(path),
  detectContent: ({ root }) =>
    isRecord(root['projects']) &&
    Object.values(root['projects']).some((project) => isRecord(project) && 'mcpServers' in project),
  read: (root, { given }) => {
    const { projects, ...rest } = root;
    const user: Reading = Object.hasOwn(rest, 'mcpServers')
      ? readSections(rest, { wrapper: 'mcpServers', fields: claudeFields })
      : { entries: [], notes: isRecord(projects) ? [] : [noSection('mcpServers', root)], leftOut: Object.keys(rest) };
    return isRecord(projects) ? withProject(user, projects, given.workspaceFolder) : user;
  },
};

/** Adds the servers of the project that is worked in; those of other projects are left out. */
function withProject(user: Reading, projects: Readonly<Record<string, unknown>>, folder: string | undefined): Reading {
  const project = folder !== undefined && Object.hasOwn(projects, folder) ? projects[folder] : undefined;
  const own =
    isRecord(project) && Object.hasOwn(project, 'mcpServers')
      ? readSections({ mcpServers: project['mcpServers'] }, { wrapper: 'mcpServers', fields: claudeFields })
      : undefined;
  const others = Object.entries(projects).filter(
    ([path, other]) =>
      path !== folder &&
      isRecord(other) &&
      isRecord(other['mcpServers']) &&
      Object.keys(other['mcpServers']).length > 0,
  );
  const entries = new Map<string, NamedDraft>(user.entries.map((entry) => [entry.name, entry]));
  for (const entry of own?.entries ?? []) entries.set(entry.name, entry);
  for (const name of disabledIn(project)) entries.get(name)?.draft?.fields.set('enabled', false);
  const tooMany = user.tooMany ?? own?.tooMany;
  return {
    ...(tooMany === undefined ? {} : { tooMany }),
    entries: [...entries.values()],
    notes: [
      ...user.notes,
      ...(own?.notes ?? []),
      ...others.map(([path]) => ({
        code: 'other-project',
        isInfo: true,
        message: `the servers of the project "${path}" are not taken here.`,
      })),
    ],
    leftOut: user.leftOut,
  };
}

function disabledIn(project: unknown): readonly string[] {
  const names: unknown = isRecord(project) ? project['disabledMcpServers'] : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}
