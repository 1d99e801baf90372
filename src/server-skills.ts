/**
 * The skills of a thread's servers, and the files of them that were loaded (SPEC WS-2, SEP-2640).
 *
 * Owns the listing of each connection and a bounded store of verified files. Loaded on demand.
 * - S1 Nothing but `skills/list` is asked before a skill is loaded. A listing is had whole, or the last one stays.
 * - S2 What is given was checked against the entry its step holds: size, digest, and the frontmatter of `SKILL.md`.
 * - S3 A file is given only of a skill whose `SKILL.md` passed.
 */
import type { RequestOptions } from './api.ts';
import type { LiveConnection } from './actors/servers.ts';
import { parseSkillFile, skillOf } from './catalog/skill-file.ts';
import { HoldfastError, messageOf } from './domain/errors.ts';
import { frozenCopy } from './domain/frozen.ts';
import { isJsonObject, isRecord } from './domain/json.ts';
import type { JsonObject } from './domain/json.ts';
import type { Link } from './domain/link.ts';
import type { SkillContent, SkillInfo } from './domain/skill.ts';
import { followPages } from './mcp/listing.ts';
import { checkSkillContent, readSkillEntry, skillFileUri, skillFiles } from './mcp/skills.ts';
import type { SkillBytes, SkillEntry } from './mcp/skills.ts';
import type { SendRequest } from './server-requests.ts';

/** A server's skill as a step holds it. */
export interface ServerSkill {
  readonly info: SkillInfo;
  readonly server: string;
  readonly entry: SkillEntry;
}

/** What listing skills needs. */
export interface ServerSkillPorts {
  now(): number;
  warn(code: string, message: string, server?: string): void;
}

interface Listing {
  readonly link: Link;
  readonly skills: readonly ServerSkill[];
  readonly staleAt: number;
}

/** How long a listing counts that says nothing of it, at least and by default; and one that failed. */
const listingMs = { least: 1_000, usual: 300_000, failed: 60_000 } as const;
const listTimeoutMs = 30_000;
const storeLimits = { files: 64, bytes: 8_388_608 } as const;

export class ServerSkills {
  readonly #ports: ServerSkillPorts;
  readonly #listings = new Map<string, Listing>();
  readonly #listing = new Map<string, Promise<void>>();
  readonly #store = new Map<string, SkillBytes>();

  constructor(ports: ServerSkillPorts) {
    this.#ports = ports;
  }

  /** The skills a connection is known to have: those of before while it reconnects. */
  of({ id }: LiveConnection): readonly ServerSkill[] {
    return this.#listings.get(id)?.skills ?? [];
  }

  /** Lists what is not listed, or no longer counts, of connections that offer skills. Gives the promises worth a wait: of what was never listed on its link. */
  refresh(connections: readonly LiveConnection[], request: SendRequest): readonly Promise<void>[] {
    return connections.flatMap((connection) => {
      const { link, id } = connection;
      if (link === undefined) return [];
      const known = this.#listings.get(id);
      const isNew = known?.link !== link || known.staleAt === 0;
      if (!isNew && known.staleAt > this.#ports.now()) return [];
      const before = this.#listing.get(id);
      const listing = before ?? this.#list(connection, link, request).finally(() => this.#listing.delete(id));
      if (before === undefined) this.#listing.set(id, listing);
      return isNew ? [listing] : [];
    });
  }

  /** Forgets connections that are gone. */
  keepOnly(connections: ReadonlySet<string>): void {
    for (const id of this.#listings.keys()) if (!connections.has(id)) this.#listings.delete(id);
  }

  /** Loads one file of a skill. */
  async read(skill: ServerSkill, file: string, request: SendRequest, options: RequestOptions): Promise<SkillContent> {
    const main = await this.#main(skill, request, options);
    if (file === 'SKILL.md') return contentOf(skill.info, 'SKILL.md', main);
    const uri = skillFileUri(skill.entry, file);
    if (uri === undefined) throw this.#mismatch(skill, file, 'expected a file the skill lists, got another');
    return contentOf(skill.info, file, await this.#fetch(skill, uri, file, request, options));
  }

  /** The entry of a skill that no listing need mention. */
  async get(server: string, uri: string, request: SendRequest, options: RequestOptions): Promise<ServerSkill> {
    const result = await request(server, 'skills/get', { uri }, options);
    const skill = skillFrom(result['skill'], server);
    if ('skill' in skill && skill.skill.entry.uri === uri) return skill.skill;
    const fault = 'fault' in skill ? skill.fault : `expected the skill "${uri}", got another`;
    throw new HoldfastError('invalid_result', `Server "${server}", "skills/get": ${fault}.`, { outcome: 'failed' });
  }

  async #list({ id, server }: LiveConnection, link: Link, request: SendRequest): Promise<void> {
    const ports = this.#ports;
    let ttlMs: number = listingMs.usual;
    try {
      const items = await followPages(
        async ({ method, params }) => {
          const page = await request(server, method, params ?? {}, { timeoutMs: listTimeoutMs });
          const { ttlMs: given } = page;
          if (typeof given === 'number') ttlMs = Math.min(ttlMs, Math.max(given, listingMs.least));
          return page;
        },
        { server, method: 'skills/list', key: 'skills' },
      );
      this.#listings.set(id, { link, skills: this.#skillsOf(items, server), staleAt: ports.now() + ttlMs });
    } catch (error) {
      const skills = this.#listings.get(id)?.skills ?? [];
      this.#listings.set(id, { link, skills, staleAt: ports.now() + listingMs.failed });
      ports.warn('skills_unavailable', `The skills of server "${server}" are not known: ${messageOf(error)}`, server);
    }
  }

  #skillsOf(items: readonly unknown[], server: string): readonly ServerSkill[] {
    const skills = new Map<string, ServerSkill>();
    for (const item of items) {
      const read = skillFrom(item, server);
      const fault =
        'fault' in read
          ? read.fault
          : skills.has(read.skill.info.id)
            ? `expected each skill once, got "${read.skill.entry.uri}" again`
            : undefined;
      if (fault !== undefined)
        this.#ports.warn('skill_dropped', `Server "${server}": ${fault}. The skill is left out.`, server);
      else if ('skill' in read) skills.set(read.skill.info.id, read.skill);
    }
    return [...skills.values()];
  }

  async #main(skill: ServerSkill, request: SendRequest, options: RequestOptions): Promise<SkillBytes> {
    const { uri, frontmatter } = skill.entry;
    const bytes = await this.#fetch(skill, uri, 'SKILL.md', request, options);
    const parsed = parseSkillFile(bytes.text ?? '', uri);
    if (parsed.kind === 'invalid') throw this.#mismatch(skill, 'SKILL.md', parsed.problem);
    const different = differingKey(parsed.frontmatter, frontmatter);
    if (different !== undefined)
      throw this.#mismatch(skill, 'SKILL.md', `expected the frontmatter that was listed, got another "${different}"`);
    return bytes;
  }

  async #fetch(
    skill: ServerSkill,
    uri: string,
    file: string,
    request: SendRequest,
    options: RequestOptions,
  ): Promise<SkillBytes> {
    const { entry, server } = skill;
    const expected = entry.resources === 'dynamic' ? undefined : entry.resources.get(uri);
    const key = expected === undefined ? undefined : JSON.stringify([server, uri, expected.digest, expected.size]);
    const kept = key === undefined ? undefined : this.#store.get(key);
    if (kept !== undefined) return kept;
    const read = checkSkillContent(await request(server, 'resources/read', { uri }, options), uri, expected);
    if ('fault' in read) throw this.#mismatch(skill, file, read.fault);
    if (key !== undefined) this.#keep(key, read);
    return read;
  }

  /** Keeps a file that was checked; the oldest go first. */
  #keep(key: string, file: SkillBytes): void {
    this.#store.set(key, file);
    let bytes = [...this.#store.values()].reduce((sum, each) => sum + each.bytes, 0);
    for (const [oldest, each] of this.#store) {
      if (this.#store.size <= storeLimits.files && bytes <= storeLimits.bytes) break;
      this.#store.delete(oldest);
      bytes -= each.bytes;
    }
  }

  /** The skill may have changed since it was listed: it is listed anew for the next step. */
  #mismatch({ info, server }: ServerSkill, file: string, fault: string): HoldfastError {
    for (const [id, listing] of this.#listings)
      if (listing.skills.some((each) => each.server === server)) this.#listings.set(id, { ...listing, staleAt: 0 });
    return new HoldfastError(
      'invalid_result',
      `Skill "${info.id}", "${file}": ${fault}. It was not loaded. Begin a new step if the skill has changed.`,
      { outcome: 'failed', issues: [{ path: `/${file}`, message: fault }] },
    );
  }
}

function skillFrom(value: unknown, server: string): { readonly skill: ServerSkill } | { readonly fault: string } {
  const read = readSkillEntry(value);
  if ('fault' in read) return read;
  const { entry } = read;
  const said = skillOf(entry.frontmatter);
  if (said.kind === 'invalid') return { fault: `"${entry.uri}": ${said.problem}` };
  const files = skillFiles(entry);
  const info = frozenCopy<SkillInfo>({
    id: `mcp:${server}/${entry.directory.replace(/^skill:\/\//, '')}`,
    name: said.name,
    description: said.description,
    origin: { kind: 'server', server },
    uri: entry.uri,
    frontmatter: said.frontmatter,
    integrity: files === undefined ? 'none' : 'digest',
    ...(files === undefined ? {} : { files }),
  });
  return { skill: { info, server, entry } };
}

function contentOf(skill: SkillInfo, file: string, { mimeType, text, blob }: SkillBytes): SkillContent {
  return {
    skill,
    file,
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(text === undefined ? {} : { text }),
    ...(blob === undefined ? {} : { blob }),
  };
}

/** The first member that is not the same in both. */
function differingKey(a: JsonObject, b: JsonObject): string | undefined {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].find(
    (key) => !Object.hasOwn(a, key) || !Object.hasOwn(b, key) || !isSame(a[key], b[key]),
  );
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  return isRecord(a) && isRecord(b) && isJsonObject(a) && isJsonObject(b) && differingKey(a, b) === undefined;
}
