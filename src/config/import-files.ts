/** Several files of any tools: what each has, and all of them in one normal form. */
import { resolve } from 'node:path';
import type { Limits, Policy } from '../domain/config.ts';
import { type Failure, HoldfastError, toFailure } from '../domain/errors.ts';
import { createRedactor } from '../domain/redact.ts';
import { checkFiles, checkOptions, checkReport } from './check-arguments.ts';
import { readDocument } from './document.ts';
import { type ImportDiagnostic, type ImportedConfig, importSource } from './import-config.ts';
import { inputVariables, normalForm, unsetVariables, untranslatedReferences } from './normal-form.ts';
import { keptLimitsSchema, keptPolicySchema, limitsOf, SettingsMerge } from './policy-schema.ts';
import { type ConfigValues, givenOf } from './read-config.ts';
import type { ReadEntry } from './read-entry.ts';
import { readSource, type SourceReading } from './read-source.ts';

/** A `holdfast.json` as it is written. */
export interface NormalForm {
  readonly mcpServers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly policy?: Policy;
  readonly limits?: Limits;
}

/** What files come to. */
export interface ImportReport {
  readonly files: readonly ImportedConfig[];
  /** Files that could not be read as configuration, with line and column. */
  readonly unreadable: readonly { readonly file: string; readonly failure: Failure }[];
  /** Everything in one form, later files winning by name. References are kept; what the files have in plain text is here too. */
  readonly config: NormalForm;
  /** What is said about the files together, and about what the normal form could not take. */
  readonly diagnostics: readonly ImportDiagnostic[];
}

/**
 * Reads files of any tools, in order. A file that cannot be read is reported, and loses no other.
 *
 * @throws HoldfastError `invalid_argument`
 */
export async function importFiles(files: readonly string[], values: ConfigValues = {}): Promise<ImportReport> {
  checkFiles(files, 'importFiles');
  checkOptions(values, 'importFiles');
  const given = givenOf(values);
  const sources: SourceReading[] = [];
  const unreadable: { file: string; failure: Failure }[] = [];
  for (const file of files.map((path) => resolve(path))) {
    try {
      sources.push(readSource(await readDocument(file), given));
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      unreadable.push({ file, failure: toFailure(error) });
    }
  }
  return { files: sources.map(importSource), unreadable, ...mergeSources(sources) };
}

/** The report with every secret taken out: what may be shown (SPEC SE-1). Where it came from stays as it is. */
export function redactImport(report: ImportReport): ImportReport {
  checkReport(report);
  const redactor = createRedactor();
  for (const { file, secrets, servers } of report.files) {
    for (const secret of secrets) redactor.add(secret);
    for (const name of [file, ...servers.map((server) => server.name)]) redactor.keep(name);
  }
  return {
    ...redactor.value({ config: report.config, diagnostics: report.diagnostics }),
    files: report.files.map((imported) => {
      const { file, format, product } = imported;
      return { ...redactor.value({ ...imported, secrets: [] }), file, format, product };
    }),
    unreadable: redactor.value(report.unreadable),
  };
}

function mergeSources(sources: readonly SourceReading[]): Pick<ImportReport, 'config' | 'diagnostics'> {
  const servers = new Map<string, Readonly<Record<string, unknown>>>();
  const from = new Map<string, string>();
  const settings = new SettingsMerge();
  const diagnostics: ImportDiagnostic[] = [];
  for (const { document, format, root, entries } of sources) {
    const { file } = document;
    for (const entry of entries) {
      // For its own tool only: it is no server, here as in reading.
      if (entry.reason === 'left-out') continue;
      const { name } = entry;
      const form = normalForm(entry);
      const earlier = from.get(name);
      if (earlier !== undefined)
        diagnostics.push({
          code: 'duplicate-server',
          server: name,
          message:
            form === undefined
              ? `it is in "${earlier}" and in "${file}". The one in "${file}" counts, and cannot be understood: mend or remove it there.`
              : `it is in "${earlier}" and in "${file}". The one in "${file}" is used.`,
        });
      from.set(name, file);
      servers.delete(name);
      if (form === undefined) continue;
      servers.set(name, form);
      diagnostics.push(...lossesOf(entry));
    }
    if (format.hasSections === true && root !== undefined) diagnostics.push(...addSections(settings, file, root));
  }
  const { policy, limits } = settings;
  return {
    config: {
      mcpServers: Object.fromEntries(servers),
      ...(policy === undefined ? {} : { policy }),
      ...(limits === undefined ? {} : { limits }),
    },
    diagnostics,
  };
}

/** What the normal form of an entry says in another way, or cannot say. */
function lossesOf(entry: ReadEntry): readonly ImportDiagnostic[] {
  const about = (code: string, message: string): ImportDiagnostic => ({ code, server: entry.name, message });
  const unset = unsetVariables(entry);
  const untranslated = untranslatedReferences(entry);
  return [
    ...[...inputVariables(entry)].map(([input, variable]) =>
      about('input-variable', `the input "${input}" is the variable ${variable} in the normal form. Set it.`),
    ),
    ...(unset.length === 0
      ? []
      : [
          about(
            'unset-variable',
            `it gets ${quoted(unset)} when set. Nothing is set now: left out of the normal form.`,
          ),
        ]),
    ...(untranslated.length === 0
      ? []
      : [
          about(
            'no-such-placeholder',
            `holdfast.json has no placeholders for commands and files: ${quoted(untranslated)} never has a value there. Put the value into a variable, and write "\${NAME}" instead.`,
          ),
        ]),
    ...(entry.headersHelper === undefined
      ? []
      : [
          about(
            'headers-helper',
            'its headers helper is left out of the normal form. Give the headers, or "bearerTokenVariable".',
          ),
        ]),
  ];
}

/** Adds `policy` and `limits` of a file, with what nobody here knows. */
function addSections(
  settings: SettingsMerge,
  file: string,
  root: Readonly<Record<string, unknown>>,
): readonly ImportDiagnostic[] {
  const diagnostics: ImportDiagnostic[] = [];
  const sections: { policy?: Policy; limits?: Limits } = {};
  if (Object.hasOwn(root, 'policy')) {
    const parsed = keptPolicySchema.safeParse(root['policy']);
    if (parsed.success) sections.policy = parsed.data;
    else
      diagnostics.push({
        code: 'invalid-policy',
        message: `the "policy" of "${file}" cannot be understood, and is left out. Mend it before you use it.`,
      });
  }
  if (Object.hasOwn(root, 'limits')) {
    const { limits, problem } = limitsOf(root['limits'], keptLimitsSchema);
    if (problem !== undefined) diagnostics.push({ code: 'invalid-limit', message: `"${file}": ${problem}` });
    sections.limits = limits;
  }
  const overridden = settings.add(file, sections);
  return [...diagnostics, ...overridden.map((message) => ({ code: 'overridden-setting', message }))];
}

function quoted(names: readonly string[]): string {
  return names.map((key) => `"${key}"`).join(', ');
}
