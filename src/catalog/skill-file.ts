/** What a `SKILL.md` says of itself: YAML between two lines of `---` at its beginning (SPEC WS-2). */
import { parseYaml } from '../config/syntax/yaml.ts';
import { messageOf } from '../domain/errors.ts';
import { isJsonObject, isRecord, shown } from '../domain/json.ts';
import type { JsonObject } from '../domain/json.ts';

/** How much of it is read. Whatever its bounds allow is parsed within milliseconds. */
export const skillLimits = { frontmatterLength: 65_536, jsonLength: 262_144, description: 1_024 } as const;

/** What a file says of itself, or why that cannot be used. */
export type SkillFile =
  | {
      readonly kind: 'skill';
      readonly name: string;
      readonly description: string;
      readonly frontmatter: JsonObject;
    }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Reads the frontmatter of a `SKILL.md`. What is wrong with it is a value: one bad file never loses its siblings. */
export function parseSkillFile(text: string, file: string): SkillFile {
  const yaml = frontmatterOf(text);
  if (typeof yaml !== 'string') return yaml;
  const parsed = valueOf(yaml, file);
  return 'problem' in parsed ? parsed : skillOf(parsed.value);
}

/** What JSON frontmatter says, with the same checks as the YAML of a file. */
export function skillOf(value: unknown): SkillFile {
  if (!isRecord(value)) return invalid(`expected its frontmatter to be a mapping, got ${shown(value)}`);
  const json = jsonOf(value);
  if (json === undefined)
    return invalid(`expected its frontmatter to be JSON of at most ${String(skillLimits.jsonLength)} characters`);
  const { name, description } = json;
  if (typeof name !== 'string' || !namePattern.test(name))
    return invalid(`expected a "name" of 1 to 64 lower-case letters, digits and single hyphens, got ${shown(name)}`);
  if (typeof description !== 'string' || description.trim() === '')
    return invalid(`expected a "description", got ${shown(description)}`);
  if (description.length > skillLimits.description)
    return invalid(
      `expected a "description" of at most ${String(skillLimits.description)} characters, got ${String(description.length)}`,
    );
  return { kind: 'skill', name, description, frontmatter: json };
}

/** The naming rules of Agent Skills. */
const namePattern = /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

type Invalid = Extract<SkillFile, { kind: 'invalid' }>;

function invalid(problem: string): Invalid {
  return { kind: 'invalid', problem };
}

function frontmatterOf(text: string): string | Invalid {
  const head = text.slice(0, skillLimits.frontmatterLength + 16);
  const opening = /^\uFEFF?---[ \t]*\r?\n/.exec(head);
  if (opening === null) return invalid('expected it to begin with a line of "---" and its frontmatter');
  const rest = head.slice(opening[0].length);
  const end = /^---[ \t]*$/m.exec(rest.replaceAll('\r\n', '\n'));
  if (end === null)
    return invalid(
      text.length > head.length
        ? `expected the frontmatter to end within ${String(skillLimits.frontmatterLength)} characters`
        : 'expected the frontmatter to end with a line of "---"',
    );
  return rest.replaceAll('\r\n', '\n').slice(0, end.index);
}

function valueOf(yaml: string, file: string): { readonly value: unknown } | Invalid {
  try {
    return { value: parseYaml(file, yaml).value };
  } catch (error) {
    return invalid(messageOf(error).replace(/\.$/, ''));
  }
}

/** A copy as JSON; `undefined` for what cannot be it, or is too large: aliases may stand for much. */
function jsonOf(value: unknown): JsonObject | undefined {
  try {
    const text = JSON.stringify(value);
    if (text.length > skillLimits.jsonLength) return undefined;
    const copy: unknown = JSON.parse(text);
    return isJsonObject(copy) ? copy : undefined;
  } catch {
    return undefined;
  }
}
