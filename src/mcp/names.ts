/**
 * The names a model sees for tools (SPEC NM-1).
 *
 * A name depends only on the raw names of its own tool and on which other tools would get the same name, so it is the same
 * in any order and after any restart.
 */
import { createHash } from 'node:crypto';
import { defaults } from '../domain/config.ts';
import { HoldfastError } from '../domain/errors.ts';

/** A tool by its raw names: what the server is called in the configuration, and what the server calls the tool. */
export interface RawTool {
  readonly server: string;
  readonly tool: string;
}

/** How tools are named. */
export interface NameToolsOptions {
  /** Longest name, 16 to 128. Default 64. */
  readonly maxLength?: number;
}

/** Names given to tools, and the way back. */
export interface ToolNames {
  /** One entry for each tool given, in that order; `undefined` for one whose raw names came before. */
  readonly names: readonly (string | undefined)[];
  /** Name → raw names: the way back. */
  readonly lookup: ReadonlyMap<string, RawTool>;
}

interface Candidate {
  readonly raw: RawTool;
  readonly identity: string;
  readonly base: string;
}

const hashLength = 12;

/**
 * Gives each tool the name `mcp__<server>__<tool>`, with every character outside `A-Za-z0-9_-` as `_`.
 *
 * Tools that would share a name all get a hash of their raw names as a suffix, and a name that is too long is cut to make
 * room for one.
 *
 * @throws HoldfastError `invalid_argument` for a `maxLength` outside 16 to 128.
 */
export function nameTools(tools: readonly RawTool[], options: NameToolsOptions = {}): ToolNames {
  const maxLength = options.maxLength ?? defaults.maxToolNameLength;
  if (!Number.isInteger(maxLength) || maxLength < 16 || maxLength > 128) {
    throw new HoldfastError(
      'invalid_argument',
      `Expected a longest tool name of 16 to 128 characters, got ${String(maxLength)}.`,
    );
  }
  const identities = tools.map(identityOf);
  const candidates = new Map<string, Candidate>();
  for (const [index, raw] of tools.entries()) {
    const identity = identities[index] ?? '';
    if (!candidates.has(identity))
      candidates.set(identity, { raw, identity, base: `${nameStart(raw.server)}${sanitize(raw.tool)}` });
  }
  const named = assign([...candidates.values()], maxLength);
  const seen = new Set<string>();
  const names = identities.map((identity) => {
    if (seen.has(identity)) return undefined;
    seen.add(identity);
    return named.get(identity)?.name;
  });
  return { names, lookup: new Map([...named.values()].map(({ name, raw }) => [name, raw])) };
}

/** How the name of each tool of a server begins, unless it is cut. */
export function nameStart(server: string): string {
  return `mcp__${sanitize(server)}__`;
}

/** Plain names first; the others are settled in an order that is the raw names' own. */
function assign(
  candidates: readonly Candidate[],
  maxLength: number,
): ReadonlyMap<string, { readonly name: string; readonly raw: RawTool }> {
  const counts = new Map<string, number>();
  for (const { base } of candidates) counts.set(base, (counts.get(base) ?? 0) + 1);
  const isPlain = ({ base }: Candidate): boolean => base.length <= maxLength && counts.get(base) === 1;
  const taken = new Set<string>();
  const named = new Map<string, { readonly name: string; readonly raw: RawTool }>();
  const give = ({ identity, raw }: Candidate, name: string): void => {
    taken.add(name);
    named.set(identity, { name, raw });
  };
  for (const candidate of candidates) if (isPlain(candidate)) give(candidate, candidate.base);
  const others = candidates
    .filter((candidate) => !isPlain(candidate))
    .toSorted((a, b) => (a.identity < b.identity ? -1 : 1));
  for (const candidate of others) {
    let name = hashedName(candidate, maxLength, 0);
    for (let attempt = 1; taken.has(name); attempt += 1) name = hashedName(candidate, maxLength, attempt);
    give(candidate, name);
  }
  return named;
}

function hashedName({ identity, base }: Candidate, maxLength: number, attempt: number): string {
  const hashed = attempt === 0 ? identity : `${identity}${String(attempt)}`;
  const hash = createHash('sha256').update(hashed).digest('hex').slice(0, hashLength);
  return `${base.slice(0, maxLength - hashLength - 1)}_${hash}`;
}

/** JSON, because no separator is safe from a name that holds it, and because it keeps unpaired surrogates apart. */
function identityOf({ server, tool }: RawTool): string {
  return JSON.stringify([server, tool]);
}

function sanitize(name: string): string {
  return name === '' ? '_' : name.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
}
