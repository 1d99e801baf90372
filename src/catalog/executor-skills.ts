/**
 * The skills and connectors of one plugin, read where the plugin is (SPEC WS-2, CA-7).
 *
 * - Q1 Nothing outside the plugin's directory is read: links are not followed to it, and not looked for.
 * - Q2 One bad file costs itself and a warning. What cannot be known at all (the place does not answer) rejects: it is
 *   asked again.
 */
import { setMaxListeners } from 'node:events';
import type { ConnectorAttribution } from '../domain/catalog.ts';
import type { Launcher, SelectedRoot } from '../domain/environment.ts';
import { messageOf } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import type { SkillInfo } from '../domain/skill.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isUnfit } from './plugin-faults.ts';
import type { WarnOfPlugin } from './plugin-faults.ts';
import { parseSkillFile } from './skill-file.ts';

/** Most skills one plugin brings. */
export const maxSkillsPerRoot = 512;
const maxConnectors = 64;
/** `skills/NAME/SKILL.md`, and one folder between. */
const skillDepth = 3;
const readsAtOnce = 8;

/** One skill of a plugin, and where its files are. */
export interface ExecutorSkill {
  readonly info: SkillInfo;
  /** Its directory, there. */
  readonly directory: string;
}

/** What a plugin brings besides servers. */
export interface RootExtras {
  readonly skills: readonly ExecutorSkill[];
  readonly connectors: readonly ConnectorAttribution[];
}

/** How a plugin is read. */
export interface ReadExtrasOptions {
  readonly signal: AbortSignal;
  readonly warn: WarnOfPlugin;
}

/** Reads what a plugin brings besides servers. Rejects when its place cannot say. */
export async function readExtras(
  root: SelectedRoot,
  launcher: Launcher,
  options: ReadExtrasOptions,
): Promise<RootExtras> {
  // Many files are read at once, each until the one signal.
  setMaxListeners(0, options.signal);
  const [skills, connectors] = await Promise.all([
    readSkills(root, launcher, options),
    readConnectors(root, launcher, options),
  ]);
  return { skills, connectors };
}

async function readSkills(
  root: SelectedRoot,
  launcher: Launcher,
  { signal, warn }: ReadExtrasOptions,
): Promise<readonly ExecutorSkill[]> {
  if (launcher.readFile === undefined || launcher.findFiles === undefined) return [];
  const base = trimmed(root.path);
  const find = { signal, name: 'SKILL.md', limit: maxSkillsPerRoot + 1 };
  const [own, below] = await Promise.all([
    // The root may be reached over a link, nothing in it may.
    launcher.findFiles(`${base}/.`, { ...find, depth: 1 }),
    launcher.findFiles(`${base}/skills`, { ...find, depth: skillDepth }),
  ]);
  if (own === undefined && below === undefined)
    warn(
      `Plugin "${root.plugin.id}": expected its directory "${root.path}" in environment "${root.environment}", and it is not there. It brings nothing.`,
      'plugin_invalid',
    );
  const found = [...(own ?? []), ...(below ?? []).toSorted()];
  const paths = found.slice(0, maxSkillsPerRoot);
  if (found.length > paths.length)
    warn(
      `Plugin "${root.plugin.id}": expected at most ${String(maxSkillsPerRoot)} skills, got more. The rest is left out.`,
      'plugin_invalid',
    );
  const skills = new Map<number, ExecutorSkill>();
  /** What may be the fault of the place, or of the file: of the file, if the place gives others. */
  const failed: { readonly error: unknown; readonly warn: (problem: string) => void }[] = [];
  let answers = 0;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < paths.length; index = next++) {
      const path = paths[index] ?? '';
      const warnOfSkill = (problem: string): void =>
        warn(`Skill "${path}" of plugin "${root.plugin.id}" is left out: ${problem}`, 'skill_invalid');
      let text: string | undefined;
      try {
        text = await readUnlessUnfit(path, root, launcher, { signal, warn: warnOfSkill });
        if (text !== undefined) answers += 1;
      } catch (error) {
        failed.push({ error, warn: warnOfSkill });
        continue;
      }
      const skill = text === undefined ? undefined : skillAt(path, text, root, warn);
      if (skill !== undefined) skills.set(index, skill);
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, work));
  const [first] = failed;
  if (first !== undefined && (answers === 0 || signal.aborted)) throw first.error;
  for (const each of failed) each.warn(messageOf(each.error));
  return [...skills.keys()].toSorted((a, b) => a - b).flatMap((index) => skills.get(index) ?? []);
}

function skillAt(path: string, text: string, root: SelectedRoot, warn: WarnOfPlugin): ExecutorSkill | undefined {
  const read = parseSkillFile(text, path);
  if (read.kind === 'invalid') {
    warn(`Skill "${path}" of plugin "${root.plugin.id}" is left out: ${read.problem}.`, 'skill_invalid');
    return undefined;
  }
  const base = trimmed(root.path);
  const directory = path.slice(0, -'/SKILL.md'.length);
  const place = directory === base ? read.name : directory.slice(base.length + 1).replace(/^skills\//, '');
  return {
    directory,
    info: frozenCopy<SkillInfo>({
      id: `plugin:${root.plugin.id}@${root.environment}/${place}`,
      name: read.name,
      description: read.description,
      origin: { kind: 'environment', environment: root.environment, plugin: root.plugin.id },
      uri: path,
      frontmatter: read.frontmatter,
      integrity: 'none',
    }),
  };
}

/** `.app.json`: `{ "apps": { NAME: { "id": … } } }`. */
async function readConnectors(
  root: SelectedRoot,
  launcher: Launcher,
  { signal, warn }: ReadExtrasOptions,
): Promise<readonly ConnectorAttribution[]> {
  const path = `${trimmed(root.path)}/.app.json`;
  const warnOfApps = (problem: string): void =>
    warn(`Plugin "${root.plugin.id}": ${problem} Its connectors are left out.`, 'plugin_invalid');
  const text = await readUnlessUnfit(path, root, launcher, { signal, warn: warnOfApps });
  if (text === undefined) return [];
  const apps = appsOf(text);
  if (apps === undefined) {
    warnOfApps(`Expected "${path}" to be { "apps": { NAME: { "id": … } } }.`);
    return [];
  }
  return Object.entries(apps)
    .flatMap(([name, app]) => {
      const id = isRecord(app) ? app['id'] : undefined;
      return typeof id === 'string' && id !== '' ? [{ id, name }] : [];
    })
    .slice(0, maxConnectors);
}

/** The text of a file inside the plugin. One that is not fit to be read is a warning; a place that cannot say rejects. */
async function readUnlessUnfit(
  path: string,
  { path: root }: SelectedRoot,
  launcher: Launcher,
  { signal, warn }: { readonly signal: AbortSignal; readonly warn: (problem: string) => void },
): Promise<string | undefined> {
  try {
    return await launcher.readFile?.(path, { signal, within: trimmed(root) });
  } catch (error) {
    if (!isUnfit(error)) throw error;
    warn(messageOf(error));
    return undefined;
  }
}

function appsOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const apps = isRecord(value) ? value['apps'] : undefined;
    return isRecord(apps) ? apps : undefined;
  } catch {
    return undefined;
  }
}

function trimmed(path: string): string {
  return path.replace(/[\\/]+$/, '');
}
