/** What a model is told of the world with each step, what changed since the last one, and a skill it loads. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEnvironments, createThread, localLauncher } from 'holdfast';

// A plugin with one skill, as people install them.
const path = await mkdtemp(join(tmpdir(), 'holdfast-plugin-'));
await mkdir(join(path, 'skills/refunds'), { recursive: true });
await writeFile(
  join(path, 'skills/refunds/SKILL.md'),
  '---\nname: refunds\ndescription: How money goes back.\n---\nAsk for the receipt first.\n',
);

const environments = createEnvironments({
  roots: [{ plugin: { id: 'shop', name: 'Shop' }, environment: 'box', path }],
});
let open = true;
await using thread = createThread({
  environments,
  extensions: [{ id: 'office', worldState: [{ id: 'office.hours', value: () => ({ open }) }] }],
});

environments.starting('box');
await using first = await thread.beginStep();
console.log('office.hours:', first.worldState['office.hours']);
console.log('skills:', first.skills.length);

open = false;
environments.ready('box', { handle: 'box-1', launcher: localLauncher });
await using second = await thread.beginStep();
console.log(JSON.stringify(second.worldStateChange, null, 2));

const { text } = await second.readSkill('refunds');
console.log(text);
await rm(path, { recursive: true });
