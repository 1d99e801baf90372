/**
 * The world state of a thread: what each section says as a step begins, and what changed since the step before (SPEC WS-1).
 *
 * Owns the last good value of every contributed section and the last state that was given.
 * - W1 Applying the changes in order to nothing gives each step's state: states hold no null members.
 * - W2 A section that throws, is no JSON or too large keeps its last good value; that is told once, until it is good again.
 */
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isRecord } from '../domain/json.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { diffMergePatch } from '../domain/merge-patch.ts';
import type { LiveSection } from './live-section.ts';
import { ownSections } from './world-sections.ts';
import type { OwnSection } from './world-sections.ts';

/** What contributed sections may be together: bytes of JSON, and how many. */
export const sectionLimits = { total: 262_144, count: 64 } as const;

/** What a section may be called. */
export const sectionIdPattern = /^[A-Za-z0-9][\w.:/-]{0,127}$/;

/** The state of one step. */
export interface WorldStateStep {
  readonly state: JsonObject;
  /** Absent for the first. */
  readonly change?: JsonObject;
}

/** What making world states needs. */
export interface WorldStatePorts {
  redact(state: JsonObject): JsonObject;
  warn(code: string, message: string): void;
}

/** The ids of Holdfast's own sections with what they say. */
export type OwnSections = Readonly<Record<Exclude<(typeof ownSections)[number], 'omitted'>, OwnSection>>;

/** Makes the states of one thread, step by step. */
export class WorldStates {
  readonly #ports: WorldStatePorts;
  readonly #good = new Map<string, Json>();
  readonly #told = new Map<string, string>();
  #last: JsonObject | undefined;

  constructor(ports: WorldStatePorts) {
    this.#ports = ports;
  }

  /** The state of the step that begins now. */
  next(own: OwnSections, sections: readonly LiveSection[]): WorldStateStep {
    const state = frozenCopy(this.#ports.redact({ ...ownState(own), ...this.#contributed(sections) }));
    const before = this.#last;
    this.#last = state;
    if (before === undefined) return { state };
    const change = diffMergePatch(before, state);
    if (change === undefined)
      throw new HoldfastError('internal', 'Expected a world state without null members, got one with them.');
    return { state, change: frozenCopy(change) };
  }

  #contributed(sections: readonly LiveSection[]): JsonObject {
    const taken = new Map<string, Json>();
    let total = 0;
    for (const section of sections) {
      const { id } = section;
      const refused = refusalOf(id, taken);
      if (refused !== undefined) {
        this.#tell(`${id}#refused`, refused);
        continue;
      }
      const value = this.#valueOf(section);
      if (value === undefined) continue;
      const bytes = bytesOf(value);
      if (total + bytes > sectionLimits.total) {
        this.#tell(
          `${id}#total`,
          `expected all sections to have at most ${String(sectionLimits.total)} bytes. It is left out`,
        );
        continue;
      }
      this.#told.delete(`${id}#total`);
      total += bytes;
      taken.set(id, value);
    }
    return Object.fromEntries(taken);
  }

  #valueOf(section: LiveSection): Json | undefined {
    const { id } = section;
    try {
      const value = section.value();
      if (section.failure !== undefined) this.#tell(id, `its stream failed (${section.failure}). Its last value stays`);
      else this.#told.delete(id);
      if (value === undefined) this.#good.delete(id);
      else this.#good.set(id, value);
      return value;
    } catch (error) {
      this.#tell(id, `${messageOf(error).replace(/\.$/, '')}. Its last value stays`);
      return this.#good.get(id);
    }
  }

  #tell(id: string, problem: string): void {
    if (this.#told.get(id) === problem) return;
    this.#told.set(id, problem);
    this.#ports.warn(
      'world_state_section',
      `Section "${id.replace(/#(?:refused|total)$/, '')}" of the world state: ${problem}.`,
    );
  }
}

function refusalOf(id: string, taken: ReadonlyMap<string, Json>): string | undefined {
  if (!sectionIdPattern.test(id)) return 'expected an id of letters, digits and "_ . : / -". It is left out';
  if (taken.has(id) || (ownSections as readonly string[]).includes(id))
    return 'expected an id nobody else has. The other section of this id is kept, this one is left out';
  if (taken.size >= sectionLimits.count)
    return `expected at most ${String(sectionLimits.count)} sections. It is left out`;
  return undefined;
}

function ownState(own: OwnSections): JsonObject {
  const sections = Object.entries(own);
  const omitted = sections
    .filter(([, section]) => section.omitted > 0)
    .map(([id, section]): [string, Json] => [id, section.omitted]);
  return {
    ...Object.fromEntries(
      sections
        .filter(([, { entries }]) => isRecord(entries) && Object.keys(entries).length > 0)
        .map(([id, { entries }]) => [id, entries]),
    ),
    ...(omitted.length === 0 ? {} : { omitted: Object.fromEntries(omitted) }),
  };
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}
