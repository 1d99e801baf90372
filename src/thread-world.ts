/**
 * What a thread's steps are told of the world: their state of it, and their skills (SPEC WS-1, WS-2).
 *
 * Owns the order of states: step after step, as they began. Loaded with the first step.
 * - Z1 A step waits for skills that were never listed or read before, at most a second from when it was first known of
 *   them; never for those that are only looked at again.
 * - Z2 What a step was given it keeps: the entries of its skills, and where they are read.
 */
import type { Clock, ReadSkillOptions } from './api.ts';
import type { Effects } from './actors/effects.ts';
import { isUsable } from './actors/servers.ts';
import type { LiveConnection } from './actors/servers.ts';
import { findSkill, needsOf, sharedNames, withNeeds } from './catalog/skill-list.ts';
import {
  environmentsSection,
  pluginsSection,
  serversSection,
  skillsSection,
  toolsSection,
} from './catalog/world-sections.ts';
import { WorldStates } from './catalog/world-state.ts';
import { addressOf, readOptionsOf } from './check-skill-reading.ts';
import type { JsonObject } from './domain/json.ts';
import type { SkillContent, SkillInfo } from './domain/skill.ts';
import { offersSkills } from './mcp/skills.ts';
import type { ToolView } from './mcp/tool-view.ts';
import { readPlacedFile } from './placed-skills.ts';
import type { ServerProjection } from './server-projection.ts';
import type { SendRequest } from './server-requests.ts';
import { ServerSkills } from './server-skills.ts';
import { SkillReadings } from './skill-readings.ts';
import { extensionSkills, placedSkills, pluginOf, readExtensionSkill } from './step-skills.ts';
import type { StepSkill } from './step-skills.ts';
import { configsOf, connectionsOf, worldServers } from './world-servers.ts';

/** What a step is given. */
export interface StepWorld {
  readonly state: JsonObject;
  readonly change?: JsonObject;
  readonly skills: readonly SkillInfo[];
  /** Reads a skill over the requests of its step. */
  read(skill: unknown, options: unknown, request: SendRequest): Promise<SkillContent>;
  /** Ends what is being read besides requests. */
  end(): void;
}

/** What the world needs of its thread. */
export interface WorldPorts {
  readonly effects: Effects;
  readonly projection: ServerProjection;
  /** Sends requests of the thread itself to a runtime. */
  requester(generation: number): SendRequest;
  /** Keeps the state for snapshots. */
  keep(state: JsonObject): void;
}

const longestWaitMs = 1_000;

export class World {
  readonly #ports: WorldPorts;
  readonly #states: WorldStates;
  // Made when there is a use for them: most threads have none (PE-4).
  #serverSkills: ServerSkills | undefined;
  #readings: SkillReadings | undefined;
  #waited: WeakSet<object> | undefined;
  /** Ends what is waited for; `undefined` once all is over. */
  #waits: Set<() => void> | undefined = new Set();
  readonly #told = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: WorldPorts) {
    this.#ports = ports;
    const { facts, redactor } = ports.effects;
    this.#states = new WorldStates({ redact: (state) => redactor.value(state), warn: facts.warn.bind(facts) });
  }

  /**
   * What a step that has begun is given. Steps get theirs in the order they ask; one that `check` throws for gets none, and
   * what changed is told to the next.
   */
  begin(generation: number, view: ToolView, check: () => void): Promise<StepWorld> {
    const world = this.#turn.then(() => this.#begin(generation, view, check));
    this.#turn = world.then(nothing, nothing);
    return world;
  }

  /** Nothing is waited for or read any more. */
  stop(): void {
    const waits = this.#waits ?? [];
    this.#waits = undefined;
    for (const end of waits) end();
    this.#readings?.end();
  }

  async #begin(generation: number, view: ToolView, check: () => void): Promise<StepWorld> {
    check();
    const { effects, projection } = this.#ports;
    const connections = connectionsOf(effects, generation);
    const offering = connections.filter((each) => isUsable(each) && offersSkills(each.link?.info.capabilities ?? {}));
    if (offering.length > 0) this.#serverSkills ??= this.#makeServerSkills();
    this.#serverSkills?.keepOnly(new Set([...effects.servers.connections].map(({ id }) => id)));
    const listings = this.#serverSkills?.refresh(offering, this.#ports.requester(generation)) ?? [];
    const waited = (this.#waited ??= new WeakSet());
    const news = [...listings, ...projection.available.unread].filter((reading) => !waited.has(reading));
    for (const reading of news) waited.add(reading);
    if (news.length > 0) await within(longestWaitMs, Promise.all(news), effects.clock, this.#waits);
    check();
    return this.#compose(generation, view, connections);
  }

  #compose(generation: number, view: ToolView, connections: readonly LiveConnection[]): StepWorld {
    const { effects, projection } = this.#ports;
    const { available } = projection;
    const configs = configsOf(effects, generation);
    const found = [
      ...placedSkills(available.extras),
      ...extensionSkills(projection.parts, (problem) => this.#tellOnce('skill_dropped', problem)),
      ...connections
        .flatMap((connection) => this.#serverSkills?.of(connection) ?? [])
        .map((skill) => ({ kind: 'server', skill, info: skill.info }) as const),
    ].map((skill): StepSkill => ({ ...skill, info: withNeeds(skill.info, configs) }));
    const seen = new Set<string>();
    const skills = found.filter(({ info: { id } }) => {
      if (!seen.has(id)) {
        seen.add(id);
        return true;
      }
      this.#tellOnce('skill_dropped', `Expected skills of different ids, got "${id}" again. The first is kept.`);
      return false;
    });
    const infos = Object.freeze(skills.map(({ info }) => info));
    for (const [name, ids] of sharedNames(infos))
      this.#tellOnce(
        'skill_name_shared',
        `Several skills are named "${name}": ${ids.slice(0, 8).join(', ')}${ids.length > 8 ? ' and more' : ''}. Name them by id.`,
      );
    const servers = worldServers(effects, generation);
    const away = projection.plugins
      .filter(({ state }) => state !== 'ready')
      .map(({ id, name, environment, state }) => ({ id, name, environment, state, connectors: [] }));
    this.#keepNames(skills);
    const step = this.#states.next(
      {
        environments: environmentsSection(available.states, process.cwd()),
        servers: serversSection(servers),
        plugins: pluginsSection([...available.extras.map(pluginOf), ...away], servers),
        tools: toolsSection(view.tools),
        skills: skillsSection(infos),
      },
      projection.parts.flatMap((part) => part.sections),
    );
    this.#ports.keep(step.state);
    return {
      ...step,
      skills: infos,
      read: (skill, options, request) => this.#read(skills, skill, options, request),
      end: () => this.#readings?.end(skills),
    };
  }

  /** Whatever a model or a person gives back stays as it is, whatever secret it equals (SPEC SE-1). */
  #keepNames(skills: readonly StepSkill[]): void {
    const { effects, projection } = this.#ports;
    const { states } = projection.available;
    const names = [
      process.cwd(),
      ...Object.entries(states).flatMap(([id, state]) => ('cwd' in state ? [id, state.cwd ?? ''] : [id])),
      ...projection.plugins.map(({ id }) => id),
      ...skills.flatMap(({ kind, info }) => (kind === 'server' ? [] : [info.id, info.name])),
      ...projection.parts.flatMap(({ sections }) => sections.map(({ id }) => id)),
    ];
    for (const name of names) effects.redactor.keep(name);
  }

  async #read(
    skills: readonly StepSkill[],
    wanted: unknown,
    given: unknown,
    request: SendRequest,
  ): Promise<SkillContent> {
    const { file, ...options } = readOptionsOf(given);
    const address = addressOf(wanted);
    if (typeof address !== 'string') {
      const held = skills.find(
        (each) => each.kind === 'server' && each.skill.server === address.server && each.info.uri === address.uri,
      );
      if (held !== undefined) return this.#readFound(skills, held, file, request, options);
      this.#serverSkills ??= this.#makeServerSkills();
      const skill = await this.#serverSkills.get(address.server, address.uri, request, options);
      return this.#readFound(skills, { kind: 'server', skill, info: skill.info }, file, request, options);
    }
    return this.#readFound(skills, findSkill(skills, address), file, request, options);
  }

  async #readFound(
    step: readonly StepSkill[],
    skill: StepSkill,
    file = 'SKILL.md',
    request: SendRequest,
    options: ReadSkillOptions,
  ): Promise<SkillContent> {
    const { info } = skill;
    const content = await this.#contentOf(step, skill, file, request, options);
    for (const need of info.needs ?? needsOf(info.frontmatter).map((each) => ({ ...each, available: true }))) {
      if (need.available) continue;
      const where = need.command ?? need.url;
      this.#tellOnce(
        'skill_needs_server',
        `Skill "${info.id}" needs the server "${need.server}"${where === undefined ? '' : ` (${where})`}, which is not there. Ask the person, and replace the runtime with it.`,
        need.key,
      );
    }
    return content;
  }

  async #contentOf(
    step: readonly StepSkill[],
    skill: StepSkill,
    file: string,
    request: SendRequest,
    options: ReadSkillOptions,
  ): Promise<SkillContent> {
    const what = `"${file}" of skill "${skill.info.id}"`;
    switch (skill.kind) {
      case 'server':
        this.#serverSkills ??= this.#makeServerSkills();
        return this.#serverSkills.read({ ...skill.skill, info: skill.info }, file, request, options);
      case 'placed':
        return this.#reading().run(step, what, options, (signal) => readPlacedFile(skill, file, signal));
      case 'extension':
        return this.#reading().run(step, what, options, () => readExtensionSkill(skill.info, skill.text, file));
    }
  }

  #makeServerSkills(): ServerSkills {
    const { facts, clock } = this.#ports.effects;
    return new ServerSkills({ now: () => clock.now(), warn: facts.warn.bind(facts) });
  }

  #reading(): SkillReadings {
    this.#readings ??= new SkillReadings(this.#ports.effects.clock);
    return this.#readings;
  }

  #tellOnce(code: string, message: string, key = message): void {
    const once = `${code}\u0000${key}`;
    if (this.#told.has(once) || this.#told.size >= maxTold) return;
    this.#told.add(once);
    this.#ports.effects.facts.warn(code, message);
  }
}

function nothing(): void {
  // The step itself hears of it.
}

/** A thread tells at most so many different things once. */
const maxTold = 1_024;

/** Resolves with the promise, or when the time or everything is over. */
function within(
  ms: number,
  promise: Promise<unknown>,
  clock: Clock,
  waits: Set<() => void> | undefined,
): Promise<void> {
  if (waits === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clock.clearTimeout(timer);
      waits.delete(done);
      resolve();
    };
    const timer = clock.setTimeout(done, ms);
    waits.add(done);
    promise.then(done, done);
  });
}
