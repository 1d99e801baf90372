/** The skills of plugins and extensions, as a step lists them, and what extensions give of theirs (SPEC WS-2). */
import type { PlacedExtras } from './catalog/contributions.ts';
import type { ExtensionParts } from './catalog/extensions.ts';
import { skillOf } from './catalog/skill-file.ts';
import type { WorldPlugin } from './catalog/world-sections.ts';
import { HoldfastError, messageOf } from './domain/errors.ts';
import { shown } from './domain/json.ts';
import type { SkillContent, SkillInfo } from './domain/skill.ts';
import type { ServerSkill } from './server-skills.ts';

/** A skill of a step, and how it is read. */
export type StepSkill = { readonly info: SkillInfo } & (
  | { readonly kind: 'server'; readonly skill: ServerSkill }
  | { readonly kind: 'placed'; readonly extras: PlacedExtras; readonly directory: string }
  | { readonly kind: 'extension'; readonly text: () => unknown }
);

/** A plugin as the world state tells of it. */
export function pluginOf({ root, connectors }: PlacedExtras): WorldPlugin {
  return { ...root.plugin, environment: root.environment, connectors };
}

/** The skills of plugins whose environments are ready. */
export function placedSkills(extras: readonly PlacedExtras[]): readonly StepSkill[] {
  return extras.flatMap((each) =>
    each.skills.map(({ info, directory }) => ({ kind: 'placed', info, directory, extras: each }) as const),
  );
}

/** The skills of extensions; `drop` hears of those that cannot be listed. */
export function extensionSkills(
  parts: readonly ExtensionParts[],
  drop: (problem: string) => void,
): readonly StepSkill[] {
  return parts.flatMap(({ extension = 'host', skills }) =>
    skills.flatMap(({ name, description, text }): StepSkill[] => {
      const said = skillOf({ name, description });
      if (said.kind === 'invalid') {
        drop(`Extension "${extension}": ${said.problem}. The skill is left out.`);
        return [];
      }
      const info: SkillInfo = Object.freeze({
        id: `extension:${extension}/${name}`,
        name,
        description,
        origin: Object.freeze({ kind: 'extension', extension } as const),
        frontmatter: said.frontmatter,
        integrity: 'none',
        files: [],
      });
      return [{ kind: 'extension', info, text: () => (typeof text === 'function' ? text() : text) }];
    }),
  );
}

/** What an extension gives of its skill. */
export async function readExtensionSkill(skill: SkillInfo, text: () => unknown, file: string): Promise<SkillContent> {
  const fault = (problem: string, cause?: unknown): HoldfastError =>
    new HoldfastError('invalid_result', `Skill "${skill.id}": ${problem}. It was not loaded.`, {
      outcome: 'failed',
      ...(cause === undefined ? {} : { cause }),
    });
  if (file !== 'SKILL.md') throw fault('expected "SKILL.md", its only file');
  let given: unknown;
  try {
    given = await text();
  } catch (error) {
    throw fault(`its extension threw (${messageOf(error)})`, error);
  }
  if (typeof given !== 'string') throw fault(`expected text, got ${shown(given)}`);
  return { skill, file: 'SKILL.md', mimeType: 'text/markdown', text: given };
}
