/**
 * The skills of one step, of every origin (SPEC WS-2).
 *
 * Ids say the origin, so that no skill hides another; a name several have must be said by id.
 */
import { HoldfastError } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ServerConfig } from '../domain/config.ts';
import type { SkillInfo, SkillNeed } from '../domain/skill.ts';

/** A server a skill says it needs, before it is known whether it is there. */
export type NamedNeed = Omit<SkillNeed, 'available'>;

const maxNeeds = 16;
const longestText = 2_048;

/**
 * The servers a skill needs: `dependencies.tools` of its frontmatter, each `{ type: 'mcp', value, command? , url? }`.
 * What has another form needs nothing.
 */
export function needsOf(frontmatter: JsonObject): readonly NamedNeed[] {
  const { dependencies } = frontmatter;
  const tools: unknown = isRecord(dependencies) ? dependencies['tools'] : undefined;
  if (!Array.isArray(tools)) return [];
  return tools.slice(0, maxNeeds).flatMap((tool: unknown) => {
    if (!isRecord(tool) || tool['type'] !== 'mcp') return [];
    const { value, command, url } = tool;
    if (!isText(value)) return [];
    if (isText(command)) return [{ server: value, key: `mcp__stdio__${command}`, command }];
    return isText(url)
      ? [{ server: value, key: `mcp__streamable_http__${url}`, url }]
      : [{ server: value, key: `mcp__${value}` }];
  });
}

/** The same skill, with what it needs and whether the runtime's servers are that. */
export function withNeeds(skill: SkillInfo, servers: ReadonlyMap<string, ServerConfig>): SkillInfo {
  const needs = needsOf(skill.frontmatter);
  if (needs.length === 0) return skill;
  return Object.freeze({
    ...skill,
    needs: Object.freeze(needs.map((need) => Object.freeze({ ...need, available: isThere(need, servers) }))),
  });
}

/** Names that several skills have, with the ids of those. */
export function sharedNames(skills: readonly SkillInfo[]): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>();
  for (const { name, id } of skills) {
    const ids = byName.get(name);
    if (ids === undefined) byName.set(name, [id]);
    else ids.push(id);
  }
  return new Map([...byName].filter(([, ids]) => ids.length > 1));
}

/**
 * The one skill an id or a name means.
 *
 * @throws HoldfastError `invalid_argument` for none and for several.
 */
export function findSkill<TSkill extends { readonly info: SkillInfo }>(
  skills: readonly TSkill[],
  wanted: string,
): TSkill {
  const exact = skills.find(({ info }) => info.id === wanted);
  if (exact !== undefined) return exact;
  const named = skills.filter(({ info }) => info.name === wanted);
  const [one] = named;
  if (one !== undefined && named.length === 1) return one;
  const several = named.length > 1;
  const choice = (several ? named : skills).slice(0, 8).map(({ info }) => `"${info.id}"`);
  throw new HoldfastError(
    'invalid_argument',
    several
      ? `Expected the id of a skill, since several are named ${JSON.stringify(wanted)}: ${choice.join(', ')}. Say which.`
      : `Expected one of the skills of this step, got ${JSON.stringify(wanted)}. ${
          choice.length === 0
            ? 'It has none.'
            : `It has ${choice.join(', ')}${skills.length > choice.length ? ' and more' : ''}.`
        }`,
    { outcome: 'not-sent' },
  );
}

function isThere({ server, command, url }: NamedNeed, servers: ReadonlyMap<string, ServerConfig>): boolean {
  for (const [name, config] of servers) {
    if (config.enabled === false) continue;
    if (command !== undefined && 'command' in config && config.command === command) return true;
    if (url !== undefined && 'url' in config && config.url === url) return true;
    if (command === undefined && url === undefined && name === server) return true;
  }
  return false;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestText;
}
