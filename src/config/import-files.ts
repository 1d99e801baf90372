/** Several files of any tools: what each has, and all of them in one normal form. */
import { resolve } from 'node:path';
import type { Limits, Policy } from '../domain/config.ts';
import { type Failure, HoldfastError, toFailure } from '../domain/errors.ts';
import { createRedactor } from '../domain/redact.ts';
import { readDocument } from './document.ts';
import { type ImportDiagnostic, type ImportedConfig, importSource } from './import-config.ts';
import { inputVariables, normalForm, unsetVariables } from './normal-form.ts';
import { limitsSchema, mergePolicy, policySchema } from './policy-schema.ts';
import { type ConfigValues, givenOf } from './read-config.ts';
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

/** Reads files of any tools, in order. A file that cannot be read is reported, and loses no other. */
export async function importFiles(files: readonly string[], values: ConfigValues = {}): Promise<ImportReport> {
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
  const redactor = createRedactor();
  for (const secret of report.files.flatMap((file) => file.secrets)) redactor.add(secret);
  return {
    ...redactor.value({ config: report.config, diagnostics: report.diagnostics }),
    files: report.files.map((imported) => {
      const { file, format, product } = imported;
      return { ...redactor.value({ ...imported, secrets: [] }), file, format, product };
    }),
    unreadable: report.unreadable,
  };
}

function mergeSources(sources: readonly SourceReading[]): Pick<ImportReport, 'config' | 'diagnostics'> {
  const servers = new Map<string, Readonly<Record<string, unknown>>>();
  const from = new Map<string, string>();
  const diagnostics: ImportDiagnostic[] = [];
  let policy: Policy | undefined;
  let limits: Limits | undefined;
  for (const { document, format, root, entries } of sources) {
    const { file } = document;
    for (const entry of entries) {
      const form = normalForm(entry);
      if (form === undefined) continue;
      const { name } = entry;
      const earlier = from.get(name);
      if (earlier !== undefined)
        diagnostics.push({
          code: 'duplicate-server',
          server: name,
          message: `it is in "${earlier}" and in "${file}". The one in "${file}" is used.`,
        });
      servers.delete(name);
      servers.set(name, form);
      from.set(name, file);
      for (const [input, variable] of inputVariables(entry))
        diagnostics.push({
          code: 'input-variable',
          server: name,
          message: `the input "${input}" is the variable ${variable} in the normal form. Set it.`,
        });
      const unset = unsetVariables(entry);
      if (unset.length > 0)
        diagnostics.push({
          code: 'unset-variable',
          server: name,
          message: `it gets ${unset.map((each) => `"${each}"`).join(', ')} when set. Nothing is set now: left out of the normal form.`,
        });
      if (entry.headersHelper !== undefined)
        diagnostics.push({
          code: 'headers-helper',
          server: name,
          message: 'its headers helper is left out of the normal form. Give the headers, or "bearerTokenVariable".',
        });
    }
    if (format.hasSections !== true || root === undefined) continue;
    const parsed = policySchema.safeParse(root['policy']);
    if (parsed.success) policy = mergePolicy(policy, parsed.data);
    else if (root['policy'] !== undefined)
      diagnostics.push({
        code: 'invalid-policy',
        message: `the "policy" of "${file}" cannot be understood, and is left out. Mend it before you use it.`,
      });
    const limited = limitsSchema.safeParse(root['limits']);
    if (limited.success) limits = { ...limits, ...limited.data };
  }
  return {
    config: {
      mcpServers: Object.fromEntries(servers),
      ...(policy === undefined ? {} : { policy }),
      ...(limits === undefined ? {} : { limits }),
    },
    diagnostics,
  };
}
