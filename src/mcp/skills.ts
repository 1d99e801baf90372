/**
 * The skills extension of MCP (SEP-2640): its entries as a server lists them, and the check of what it then sends.
 *
 * Digests come from the server that sends the content: a match says the two agree, not that either is to be trusted.
 */
import { createHash } from 'node:crypto';
import { isJsonObject, isRecord, shown } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import { clip } from './wire.ts';

/** The name servers declare it by. */
export const skillsExtension = 'io.modelcontextprotocol/skills';

/** What every host must take, and this one does not go beyond. */
export const skillEntryLimits = { resources: 512, totalBytes: 16_777_216 } as const;

/** What a file must be. */
export interface SkillDigest {
  readonly digest: string;
  readonly size: number;
}

/** One skill of a server. */
export interface SkillEntry {
  /** Of its `SKILL.md`. */
  readonly uri: string;
  /** The uri of its directory. */
  readonly directory: string;
  /** The last part of the directory: its name. */
  readonly name: string;
  readonly frontmatter: JsonObject;
  /** By uri, `SKILL.md` included; `dynamic` where the server cannot say. */
  readonly resources: ReadonlyMap<string, SkillDigest> | 'dynamic';
}

/** An entry, or what is wrong with it. */
export type ReadEntry = { readonly entry: SkillEntry } | { readonly fault: string };

/** What a file came to. */
export interface SkillBytes {
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly bytes: number;
}

/** Tells whether a server declares the extension. */
export function offersSkills(capabilities: JsonObject): boolean {
  const { extensions } = capabilities;
  return isRecord(extensions) && isRecord(extensions[skillsExtension]);
}

/** Reads an entry of `skills/list` or `skills/get`. Its frontmatter is not checked beyond being an object. */
export function readSkillEntry(value: unknown): ReadEntry {
  if (!isRecord(value)) return { fault: `expected a skill as an object, got ${shown(value)}` };
  const { uri, frontmatter, resources } = value;
  if (typeof uri !== 'string' || !uri.endsWith('/SKILL.md') || uri.length > 2_048)
    return { fault: `expected the uri of a "SKILL.md", got ${shown(uri)}` };
  const shownUri = clip(uri, 200);
  const directory = uri.slice(0, -'/SKILL.md'.length);
  const name = directory.slice(directory.lastIndexOf('/') + 1);
  if (name === '') return { fault: `expected the name of the skill in "${shownUri}", got none` };
  if (!isJsonObject(frontmatter)) return { fault: `expected "frontmatter" of "${shownUri}" to be an object` };
  if (frontmatter['name'] !== name)
    return {
      fault: `expected "${shownUri}" to end in the name its frontmatter says, got ${shown(frontmatter['name'])}`,
    };
  const read = resources === 'dynamic' ? resources : readResources(uri, directory, resources);
  if (typeof read === 'object' && 'fault' in read) return { fault: `"${shownUri}": ${read.fault}` };
  return { entry: { uri, directory, name, frontmatter, resources: read } };
}

/** The uri of a file of a skill, by its path; `undefined` for one that is not of the skill. */
export function skillFileUri({ directory, resources }: SkillEntry, file: string): string | undefined {
  const segments = file.split('/');
  const leadsAway = segments.some((segment) => segment === '' || segment === '.' || segment === '..');
  if (leadsAway || /\p{Surrogate}/u.test(file)) return undefined;
  const plain = `${directory}/${file}`;
  const encoded = `${directory}/${segments.map(encodeURIComponent).join('/')}`;
  if (resources === 'dynamic') return encoded;
  return [plain, encoded].find((uri) => resources.has(uri));
}

/** The files of an entry beside its `SKILL.md`, as paths. */
export function skillFiles({ uri, directory, resources }: SkillEntry): readonly string[] | undefined {
  if (resources === 'dynamic') return undefined;
  return [...resources.keys()].filter((each) => each !== uri).map((each) => each.slice(directory.length + 1));
}

/** Takes one file out of a result of `resources/read`, and checks it against what was listed. */
export function checkSkillContent(
  result: JsonObject,
  uri: string,
  expected: SkillDigest | undefined,
): SkillBytes | { readonly fault: string } {
  const { contents } = result;
  const content: unknown = Array.isArray(contents)
    ? contents.find((each: unknown) => isRecord(each) && each['uri'] === uri)
    : undefined;
  if (!isRecord(content)) return { fault: 'expected the content of this uri, got none' };
  const { text, blob, mimeType } = content;
  const bytes =
    typeof text === 'string'
      ? Buffer.from(text, 'utf8')
      : typeof blob === 'string'
        ? Buffer.from(blob, 'base64')
        : undefined;
  if (bytes === undefined) return { fault: 'expected "text" or "blob", got neither' };
  if (expected !== undefined && bytes.length !== expected.size)
    return { fault: `expected ${String(expected.size)} bytes, as listed, got ${String(bytes.length)}` };
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (expected !== undefined && digest !== expected.digest)
    return { fault: `expected the digest ${expected.digest}, as listed, got ${digest}` };
  if (bytes.length > skillEntryLimits.totalBytes)
    return { fault: `expected at most ${String(skillEntryLimits.totalBytes)} bytes, got ${String(bytes.length)}` };
  return {
    bytes: bytes.length,
    ...(typeof mimeType === 'string' ? { mimeType: clip(mimeType, 128) } : {}),
    ...(typeof text === 'string' ? { text } : typeof blob === 'string' ? { blob } : {}),
  };
}

function readResources(
  uri: string,
  directory: string,
  value: unknown,
): ReadonlyMap<string, SkillDigest> | { readonly fault: string } {
  if (!Array.isArray(value)) return { fault: `expected "resources" to be a list or "dynamic", got ${shown(value)}` };
  if (value.length > skillEntryLimits.resources)
    return { fault: `expected at most ${String(skillEntryLimits.resources)} files, got ${String(value.length)}` };
  const resources = new Map<string, SkillDigest>();
  let total = 0;
  for (const item of value as readonly unknown[]) {
    const read = isRecord(item) ? item : {};
    const { uri: at, digest, size } = read;
    if (typeof at !== 'string' || !isWithin(at, directory))
      return { fault: `expected files of the skill's directory, got ${shown(at)}` };
    if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest))
      return { fault: `expected a digest "sha256:…" of "${clip(at, 200)}", got ${shown(digest)}` };
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
      return { fault: `expected the size of "${clip(at, 200)}" in bytes, got ${shown(size)}` };
    if (resources.has(at)) return { fault: `expected each file once, got "${clip(at, 200)}" again` };
    resources.set(at, { digest, size });
    total += size;
  }
  if (total > skillEntryLimits.totalBytes)
    return { fault: `expected at most ${String(skillEntryLimits.totalBytes)} bytes of files, got ${String(total)}` };
  if (!resources.has(uri)) return { fault: 'expected its "SKILL.md" among its files' };
  return resources;
}

/** Lexically: no step up, plain or encoded, leads out of the directory. */
function isWithin(uri: string, directory: string): boolean {
  if (!uri.startsWith(`${directory}/`) || uri.length > 4_096) return false;
  return uri
    .slice(directory.length + 1)
    .split('/')
    .every((segment) => !/^(?:|\.|%2e|\.\.|\.%2e|%2e\.|%2e%2e)$/i.test(segment));
}
