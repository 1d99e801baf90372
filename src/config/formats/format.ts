/** The one interface every format is behind: recognise a document, and read its entries. */
import { isRecord } from '../../domain/json.ts';
import type { Syntax } from '../document.ts';
import type { Given, PlaceholderSyntax } from '../placeholders.ts';
import type { Draft, Note } from './draft.ts';

/** The formats that are read, by id. */
export const configFormatIds = [
  'holdfast',
  'claude-desktop',
  'claude-mcp-json',
  'claude-json',
  'claude-plugin',
  'vscode',
  'cursor',
  'codex-toml',
  'gemini',
  'mcp_config',
  'zed',
  'opencode',
  'cline',
  'roo',
  'goose',
  'mcp-hub',
  'librechat',
] as const;

/** The id of a format. */
export type ConfigFormatId = (typeof configFormatIds)[number];

/** A document that wants to be recognised. */
export interface Candidate {
  /** With `/` between its parts. */
  readonly path: string;
  readonly syntax: Syntax;
  readonly root: Readonly<Record<string, unknown>>;
}

/** What reading needs to know besides the document. */
export interface ReadContext {
  readonly given: Given;
  readonly path: string;
}

/** One entry, by name. `draft` is absent when the entry is not an object. */
export interface NamedDraft {
  readonly name: string;
  readonly draft: Draft | undefined;
  /** Set instead of a name for an element of a list that has none. */
  readonly isNameless?: boolean;
}

/** What a document says. */
export interface Reading {
  readonly entries: readonly NamedDraft[];
  readonly notes: readonly (Note & { readonly server?: string; readonly isInfo?: boolean })[];
  /** Names of the parts of the document that are about something else, or that nobody here knows. */
  readonly leftOut: readonly string[];
  /** Set when there are more than {@link maxServers}: none was read. */
  readonly tooMany?: number;
}

/** The most servers that are read, of one file and of all. */
export const maxServers = 10_000;

/** One format. */
export interface ConfigFormat {
  readonly id: ConfigFormatId;
  /** What a person calls it. */
  readonly product: string;
  readonly placeholders: PlaceholderSyntax;
  /** Whether `policy` and `limits` beside the servers are Holdfast's. */
  readonly hasSections?: boolean;
  /** The transport of a url without a type, where the format has one. */
  readonly urlTransport?: 'http';
  /** A word that names the tool in names of files that are nobody's own. */
  readonly hint?: RegExp;
  /** Tells that the path is one of this tool. */
  detectPath(path: string): boolean;
  /** Tells that only this tool writes such documents. */
  detectContent(candidate: Candidate): boolean;
  read(root: Readonly<Record<string, unknown>>, context: ReadContext): Reading;
}

/** How many entries some sections have, if that is more than are read. */
export function countTooMany(...sections: readonly unknown[]): { readonly tooMany?: number } {
  const counts = sections.map((section) =>
    Array.isArray(section) ? section.length : isRecord(section) ? Object.keys(section).length : 0,
  );
  const count = counts.reduce((sum, each) => sum + each, 0);
  return count > maxServers ? { tooMany: count } : {};
}

/** Tells whether a value looks like a server of any tool. */
export function isServerLike(value: unknown): boolean {
  return (
    isRecord(value) &&
    ['command', 'url', 'httpUrl', 'serverUrl'].some(
      (key) => typeof value[key] === 'string' || Array.isArray(value[key]),
    )
  );
}

/** Tells whether a value is a map in which something looks like a server. */
export function hasServers(value: unknown): boolean {
  return (isRecord(value) || Array.isArray(value)) && Object.values(value).some(isServerLike);
}
