/** Servers that a caller gives in code or in a request: checked, and taken as they are (SPEC CA-3). */
import type { ServerConfig } from '../domain/config.ts';
import { HoldfastError, type Issue } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import { checkOptions } from './check-arguments.ts';
import { escapePointer } from './position.ts';
import { parseServer } from './server-schema.ts';

/** What {@link parseServerMap} takes besides the value. */
export interface ParseServerMapOptions {
  /** Hears of fields that nobody knows, by server. */
  readonly onWarning?: (warning: { readonly code: string; readonly message: string; readonly server: string }) => void;
}

/**
 * Checks a map of server name to configuration. No placeholder is looked for.
 *
 * @throws HoldfastError `config_invalid` with every issue: all of the map is good, or none of it is used.
 */
export function parseServerMap(
  value: unknown,
  options: ParseServerMapOptions = {},
): Readonly<Record<string, ServerConfig>> {
  checkOptions(options, 'parseServerMap');
  if (!isRecord(value)) {
    throw invalid([
      {
        path: '',
        message: `expected an object of server name to configuration, got ${Array.isArray(value) ? 'a list' : value === null ? 'null' : typeof value}`,
      },
    ]);
  }
  const issues: Issue[] = [];
  const servers: [string, ServerConfig][] = [];
  for (const [name, entry] of Object.entries(value)) {
    const parsed = parseServer(entry);
    if (parsed.kind === 'invalid') {
      issues.push(
        ...parsed.issues.map((issue) => ({ path: `/${escapePointer(name)}${issue.path}`, message: issue.message })),
      );
      continue;
    }
    servers.push([name, parsed.config]);
    const unknown = Object.keys(parsed.unknown);
    if (unknown.length > 0)
      options.onWarning?.({
        code: 'unknown_field',
        server: name,
        message: `Server "${name}": nothing here knows ${unknown.map((field) => `"${field}"`).join(', ')}. It does nothing.`,
      });
    for (const note of parsed.notes) options.onWarning?.({ ...note, server: name });
  }
  if (issues.length > 0) throw invalid(issues);
  return Object.fromEntries(servers);
}

function invalid(issues: readonly Issue[]): HoldfastError {
  const said = issues
    .slice(0, 5)
    .map((issue) => (issue.path === '' ? issue.message : `"${issue.path}": ${issue.message}`));
  const more = issues.length > said.length ? `; and ${issues.length - said.length} more` : '';
  return new HoldfastError('config_invalid', `Servers: ${said.join('; ')}${more}. Mend them; none was used.`, {
    issues,
  });
}
