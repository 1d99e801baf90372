/** Where tools keep their configuration on a machine. */
import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { checkOptions, checkText } from './check-arguments.ts';
import type { Environment } from './placeholders.ts';

/** What the places depend on. */
export interface UsualFilesOptions {
  /** Default `process.env`. */
  readonly env?: Environment;
  /** Default: the home directory of the user. */
  readonly home?: string;
  /** Default: this one. */
  readonly platform?: NodeJS.Platform;
}

/** The configuration files of known tools that exist: those of the user, then those of a project, which win by name. */
export async function findUsualFiles(directory: string, options: UsualFilesOptions = {}): Promise<readonly string[]> {
  checkText(directory, 'the directory of findUsualFiles');
  checkOptions(options, 'findUsualFiles');
  const env = options.env ?? process.env;
  const home = options.home ?? homedir();
  const places = [
    ...new Set([...userPlaces(home, env, options.platform ?? process.platform), ...projectPlaces(directory)]),
  ];
  const present = await Promise.all(
    places.map((path) =>
      lstat(path).then(
        (stats) => !stats.isDirectory(),
        () => false,
      ),
    ),
  );
  return places.filter((_, index) => present[index]);
}

function userPlaces(home: string, env: Environment, platform: NodeJS.Platform): readonly string[] {
  const dotConfig = env['XDG_CONFIG_HOME'] ?? join(home, '.config');
  const roaming = env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  const applications =
    platform === 'win32' ? roaming : platform === 'darwin' ? join(home, 'Library', 'Application Support') : dotConfig;
  const code = join(applications, 'Code', 'User');
  return [
    join(applications, 'Claude', 'claude_desktop_config.json'),
    join(home, '.claude.json'),
    join(code, 'mcp.json'),
    join(code, 'globalStorage', 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'),
    join(code, 'globalStorage', 'rooveterinaryinc.roo-cline', 'settings', 'mcp_settings.json'),
    join(home, '.cursor', 'mcp.json'),
    join(home, '.codex', 'config.toml'),
    join(home, '.gemini', 'settings.json'),
    join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    platform === 'win32' ? join(roaming, 'Zed', 'settings.json') : join(home, '.config', 'zed', 'settings.json'),
    join(dotConfig, 'opencode', 'opencode.json'),
    join(dotConfig, 'opencode', 'opencode.jsonc'),
    platform === 'win32'
      ? join(roaming, 'Block', 'goose', 'config', 'config.yaml')
      : join(dotConfig, 'goose', 'config.yaml'),
    join(dotConfig, 'mcphub', 'servers.json'),
  ];
}

function projectPlaces(directory: string): readonly string[] {
  return [
    '.vscode/mcp.json',
    '.cursor/mcp.json',
    '.codex/config.toml',
    '.gemini/settings.json',
    '.zed/settings.json',
    '.roo/mcp.json',
    'opencode.json',
    'opencode.jsonc',
    '.mcphub/servers.json',
    'librechat.yaml',
    '.claude-plugin/plugin.json',
    '.mcp.json',
    'holdfast.json',
  ].map((path) => join(directory, path));
}
