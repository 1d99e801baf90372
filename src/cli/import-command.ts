/** `holdfast import`: what files of any tools have, as people or programs read it, and as one `holdfast.json`. */
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import {
  findUsualFiles,
  type ImportDiagnostic,
  type ImportedConfig,
  type ImportedServer,
  importFiles,
  type ImportReport,
  redactImport,
} from '../config/index.ts';
import { oneLine, plain, type Terminal } from './terminal.ts';
import { exitCodes, UsageError } from './usage-error.ts';

/** What the command line gives. */
export interface ImportCommandOptions {
  readonly files: readonly string[];
  readonly json?: boolean;
  /** Where the normal form goes. It must not exist yet. */
  readonly output?: string;
}

/** What surrounds the command. */
export interface ImportCommandIo {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
}

/**
 * Shows what files have; without any, those of this machine's usual places. Secrets are never shown, only written.
 *
 * @throws UsageError when the output exists, or cannot be written.
 */
export async function runImport(options: ImportCommandOptions, io: ImportCommandIo): Promise<number> {
  const { directory, env, terminal } = io;
  const home = env['HOME'] ?? homedir();
  const files =
    options.files.length > 0
      ? options.files.map((file) => resolve(directory, file))
      : await findUsualFiles(directory, { env, home });
  const report = await importFiles(files, {
    env,
    userHome: home,
    ...(options.files.length > 0 ? {} : { workspaceFolder: directory }),
  });
  const written = options.output === undefined ? undefined : resolve(directory, options.output);
  if (written !== undefined) await writeConfig(written, report);
  const shown = redactImport(report);
  if (options.json === true) terminal.output.write(`${JSON.stringify(jsonOf(shown), null, 2)}\n`);
  else terminal.output.write(`${format(shown, written, terminal.paint)}\n`);
  return report.unreadable.length > 0 ? exitCodes.failed : exitCodes.ok;
}

async function writeConfig(path: string, report: ImportReport): Promise<void> {
  try {
    // It may hold secrets the files had in plain text.
    await writeFile(path, `${JSON.stringify(report.config, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new UsageError(
      `Expected to write a new file "${path}", got: ${error instanceof Error ? error.message : String(error)}. Name another one.`,
    );
  }
}

function jsonOf(report: ImportReport): Readonly<Record<string, unknown>> {
  const files = report.files.map(({ file, format: id, product, servers, diagnostics, leftOut }) => ({
    file,
    format: id,
    product,
    servers,
    diagnostics,
    leftOut,
  }));
  return { ...report, files };
}

type Paint = Terminal['paint'];

function format(report: ImportReport, written: string | undefined, paint: Paint): string {
  const count = Object.keys(report.config.mcpServers).length;
  const said = count === 1 ? '1 server' : `${count} servers`;
  const parts = [
    ...report.files.map((file) => formatFile(file, paint)),
    ...report.unreadable.map(({ failure }) => paint('red', plain(failure.message))),
    ...(report.diagnostics.length === 0
      ? []
      : [[paint('bold', 'Together'), ...report.diagnostics.map((each) => formatDiagnostic(each, paint))].join('\n')]),
    report.files.length === 0 && report.unreadable.length === 0
      ? 'No configuration of a known tool is here. Name a file.'
      : written === undefined
        ? `${said} in all. Write them as one holdfast.json with "--output FILE".`
        : `Wrote ${said} to "${plain(written)}".`,
  ];
  return parts.join('\n\n');
}

function formatFile({ file, product, servers, diagnostics, leftOut }: ImportedConfig, paint: Paint): string {
  const width = Math.min(32, Math.max(0, ...servers.map(({ name }) => name.length)));
  const lines = [`${paint('bold', plain(file))} ${paint('dim', `(${product}, ${servers.length})`)}`];
  for (const server of servers) {
    lines.push(`  ${paint('cyan', oneLine(server.name, 100).padEnd(width))}  ${formatServer(server, paint)}`.trimEnd());
    for (const diagnostic of diagnostics)
      if (diagnostic.server === server.name) lines.push(`  ${formatDiagnostic(diagnostic, paint, false)}`);
  }
  const listed = new Set(servers.map(({ name }) => name));
  for (const diagnostic of diagnostics)
    if (diagnostic.server === undefined || !listed.has(diagnostic.server))
      lines.push(formatDiagnostic(diagnostic, paint));
  if (leftOut.length > 0) lines.push(paint('dim', `  left out: ${oneLine(leftOut.join(', '), 160)}`));
  return lines.join('\n');
}

function formatServer(server: ImportedServer, paint: Paint): string {
  const reach = server.url ?? [server.command, ...(server.args ?? [])].join(' ');
  const facts = [
    server.transport,
    server.enabled ? undefined : 'disabled',
    server.unresolved.length === 0 ? undefined : `needs ${server.unresolved.join(', ')}`,
    names('env', Object.keys(server.env ?? {})),
    names('headers', Object.keys(server.headers ?? {})),
    server.timeoutMs === null ? undefined : `calls ${server.timeoutMs} ms`,
    server.startupTimeoutMs === null ? undefined : `start ${server.startupTimeoutMs} ms`,
  ].filter((fact) => fact !== undefined);
  return `${oneLine(reach, 100)}  ${paint('dim', oneLine(facts.join(' · '), 160))}`;
}

function names(what: string, keys: readonly string[]): string | undefined {
  return keys.length === 0 ? undefined : `${what} ${keys.join(' ')}`;
}

function formatDiagnostic({ code, message, server }: ImportDiagnostic, paint: Paint, isNamed = true): string {
  const about = isNamed && server !== undefined ? `${oneLine(server, 100)}: ` : '';
  return `  ${paint('yellow', code)} ${about}${oneLine(message, 300)}`;
}
