/** One entry of a file on its way to the normal form: fields under the names of CA-2, references not yet resolved. */
import { isRecord } from '../../domain/json.ts';

/** Something worth telling about an entry or a file. */
export interface Note {
  readonly code: string;
  readonly message: string;
}

/**
 * Collects what one entry says.
 *
 * A field is set once: what comes later under another name is kept and reported, so that nothing is lost in silence.
 */
export class Draft {
  /** By the names of `ServerConfig`, as written: checked later. */
  readonly fields = new Map<string, unknown>();
  /** How the file calls a field, where it has another name for it. */
  readonly writtenAs = new Map<string, string>();
  /** Fields that do nothing here, as they came. */
  readonly kept = new Map<string, unknown>();
  /** Those of {@link kept} that nobody here knows. */
  readonly unknown = new Set<string>();
  readonly notes: Note[] = [];
  /** Environment variable of the server → variable here whose value it gets; without one it is left out, or missing. */
  readonly variables = new Map<string, { readonly from: string; readonly isRequired: boolean }>();
  /** Files of `NAME=value` lines the environment starts from. */
  readonly envFiles: string[] = [];
  readonly autoApprove = new Set<string>();
  trust: boolean | undefined;
  headersHelper: string | undefined;
  /** Set when the entry is for its own tool only and no fault of anybody: it is left out. */
  leftOut: Note | undefined;

  /** Sets a field, unless it is set. */
  set(field: string, value: unknown, writtenAs: string = field): void {
    if (this.fields.has(field)) {
      this.ignore(writtenAs, value, `"${this.writtenAs.get(field) ?? field}" says the same and is used`);
      return;
    }
    this.fields.set(field, value);
    if (writtenAs !== field) this.writtenAs.set(field, writtenAs);
  }

  /** Sets one field within `tools` or `oauth`. */
  setWithin(field: 'tools' | 'oauth', inner: string, value: unknown, writtenAs: string): void {
    const before = this.fields.get(field);
    if (before !== undefined && !isRecord(before)) {
      this.ignore(writtenAs, value, `"${field}" is no object`);
      return;
    }
    if (before !== undefined && Object.hasOwn(before, inner)) {
      this.ignore(writtenAs, value, `"${field}.${inner}" says the same and is used`);
      return;
    }
    this.fields.set(field, { ...before, [inner]: value });
    this.writtenAs.set(`${field}/${inner}`, writtenAs);
  }

  /** Keeps a field that does nothing here and needs no word: a description, a version. */
  keep(name: string, value: unknown): void {
    this.kept.set(name, value);
  }

  /** Keeps a field nobody here knows, and reports it. */
  keepUnknown(name: string, value: unknown): void {
    this.kept.set(name, value);
    this.unknown.add(name);
  }

  /** Keeps a field that is understood and not used, and says why. */
  ignore(name: string, value: unknown, why: string): void {
    this.kept.set(name, value);
    this.notes.push({ code: 'ignored-field', message: `"${name}" is not used: ${why}.` });
  }
}
