/** Which tool's a document is: by its path, by what only one tool writes, by a tool's name in the file's name. */
import { claudeCodeFormat, claudeUserFormat } from './claude-code.ts';
import { claudeDesktopFormat } from './claude-desktop.ts';
import { claudePluginFormat } from './claude-plugin.ts';
import { clineFormat, rooFormat } from './cline.ts';
import { codexFormat } from './codex.ts';
import { cursorFormat } from './cursor.ts';
import type { Candidate, ConfigFormat } from './format.ts';
import { geminiFormat } from './gemini.ts';
import { gooseFormat } from './goose.ts';
import { holdfastFormat } from './holdfast.ts';
import { librechatFormat } from './librechat.ts';
import { mcpHubFormat } from './mcp-hub.ts';
import { opencodeFormat } from './opencode.ts';
import { vscodeFormat } from './vscode.ts';
import { windsurfFormat } from './windsurf.ts';
import { zedFormat } from './zed.ts';

/** Every format, the more particular before the more general. */
export const formats: readonly ConfigFormat[] = [
  holdfastFormat,
  claudeDesktopFormat,
  claudeUserFormat,
  claudeCodeFormat,
  rooFormat,
  clineFormat,
  cursorFormat,
  codexFormat,
  geminiFormat,
  windsurfFormat,
  zedFormat,
  opencodeFormat,
  gooseFormat,
  librechatFormat,
  mcpHubFormat,
  claudePluginFormat,
  vscodeFormat,
];

/** The format of a document. What no tool claims, and has `mcpServers` or nothing, is Holdfast's own (SPEC CA-1). */
export function detectFormat(candidate: Candidate): ConfigFormat {
  const fileName = candidate.path.slice(candidate.path.lastIndexOf('/') + 1).toLowerCase();
  return (
    formats.find((format) => format.detectPath(candidate.path)) ??
    formats.find((format) => format.detectContent(candidate)) ??
    formats.find((format) => format.hint?.test(fileName) === true) ??
    holdfastFormat
  );
}
