/** The scenarios of the skills extension (SEP-2640): nothing is fetched ahead, and nothing is used that was not verified. */
import { HoldfastError } from 'holdfast';
import type { SkillInfo, Step, Thread } from 'holdfast';
import type { Conversation, Scenario } from './peer.ts';
import { expectThat } from './values.ts';

/** The scenarios by the names the suite gives them. */
export const skillScenarios: Readonly<Record<string, Scenario>> = {
  'sep-2640-client-no-prefetch': (peer) => peer.converse(lookAtSkills),
  'sep-2640-client-verify-digest': (peer) => peer.converse(loadTampered),
  'sep-2640-client-verify-size': (peer) => peer.converse(loadTampered),
  'sep-2640-client-verify-frontmatter': (peer) => peer.converse(loadTampered),
};

async function lookAtSkills({ thread }: Conversation): Promise<void> {
  await using step = await stepWithSkills(thread);
  const { name, description } = onlySkill(step);
  expectThat(name === 'pdf-processing' && description !== '', 'the skill is shown by what its server listed');
}

/** Its SKILL.md is not what the server listed: neither it nor a file of it may be given. */
async function loadTampered({ thread }: Conversation): Promise<void> {
  await using step = await stepWithSkills(thread);
  const { id } = onlySkill(step);
  await isRefused(() => step.readSkill(id));
  await isRefused(() => step.readSkill(id, { file: 'references/FORMS.md' }));
}

/** A step waits a moment for skills, not for a slow server: a later one has them. */
async function stepWithSkills(thread: Thread): Promise<Step> {
  for (;;) {
    const step = await thread.beginStep();
    if (step.skills.length > 0) return step;
    await step.end();
  }
}

function onlySkill(step: Step): SkillInfo {
  const [skill, ...others] = step.skills;
  if (skill === undefined || others.length > 0)
    throw new Error(`Expected one skill, got ${String(step.skills.length)}.`);
  return skill;
}

async function isRefused(read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'invalid_result') return;
    throw error;
  }
  throw new Error('Expected what is not as it was listed to be refused. It was given.');
}
