/**
 * The world state of a thread: what each section says as a step begins, and what changed since the step before (SPEC WS-1).
 *
 * Owns the last good value of every contributed section and the last state that was given.
 * - W1 Applying the changes in order to nothing gives each step's state: states hold no null members.
 * - W2 A section that throws, is no JSON or too large keeps its last good value; that is told once, until it is good again.
 */
import { isObservable } from 'rxjs';
import type { Subscription } from 'rxjs';
import type { WorldStateSection } from '../api.ts';
import { HoldfastError, messageOf } from '../domain/errors.ts';
import { frozenCopy } from '../domain/frozen.ts';
import { isJsonObject, isRecord, toJson } from '../domain/json.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { diffMergePatch } from '../domain/merge-patch.ts';
import { ownSections } from './world-sections.ts';
import type { OwnSection } from './world-sections.ts';

/** What contributed sections may be: bytes of JSON each and together, and how many. */
export const sectionLimits = { bytes: 65_536, total: 262_144, count: 64, depth: 64 } as const;

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
  readonly #live = new Map<WorldStateSection, LiveSection>();
  readonly #good = new Map<string, Json>();
  readonly #told = new Map<string, string>();
  #last: JsonObject | undefined;

  constructor(ports: WorldStatePorts) {
    this.#ports = ports;
  }

  /** Says which sections there are, in their order. Streams are listened to from now on, and no longer than they are here. */
  setSections(sections: readonly WorldStateSection[]): void {
    for (const [section, live] of this.#live) {
      if (sections.includes(section)) continue;
      live.stop();
      this.#live.delete(section);
    }
    for (const section of sections) if (!this.#live.has(section)) this.#live.set(section, new LiveSection(section));
  }

  /** The state of the step that begins now. */
  next(own: OwnSections, sections: readonly WorldStateSection[]): WorldStateStep {
    const state = frozenCopy(this.#ports.redact({ ...ownState(own), ...this.#contributed(sections) }));
    const before = this.#last;
    this.#last = state;
    if (before === undefined) return { state };
    const change = diffMergePatch(before, state);
    if (change === undefined)
      throw new HoldfastError('internal', 'Expected a world state without null members, got one with them.');
    return { state, change: frozenCopy(change) };
  }

  stop(): void {
    this.setSections([]);
  }

  #contributed(sections: readonly WorldStateSection[]): JsonObject {
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
        this.#tell(id, `expected all sections to have at most ${String(sectionLimits.total)} bytes. It is left out`);
        continue;
      }
      total += bytes;
      taken.set(id, value);
    }
    return Object.fromEntries(taken);
  }

  #valueOf(section: WorldStateSection): Json | undefined {
    const { id } = section;
    try {
      const live = this.#live.get(section);
      const value = live === undefined ? undefined : live.value();
      if (live?.failure !== undefined) this.#tell(id, `its stream failed (${live.failure}). Its last value stays`);
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
    this.#ports.warn('world_state_section', `Section "${id.replace(/#refused$/, '')}" of the world state: ${problem}.`);
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

/** One contributed section: where its value comes from. */
class LiveSection {
  readonly #source: WorldStateSection['value'];
  readonly #subscription: Subscription | undefined;
  #latest: Json | undefined;
  #given: { readonly value: unknown; readonly json: Json | undefined } | undefined;
  failure: string | undefined;

  constructor({ value }: WorldStateSection) {
    this.#source = value;
    if (!isObservable(value)) return;
    try {
      this.#subscription = value.subscribe({
        next: (latest) => {
          this.#latest = latest;
        },
        error: (error: unknown) => {
          this.failure = messageOf(error);
        },
      });
    } catch (error) {
      this.failure = messageOf(error);
    }
  }

  /** @throws whatever the section throws, and for what is no JSON. */
  value(): Json | undefined {
    const given: unknown = isObservable(this.#source)
      ? this.#latest
      : typeof this.#source === 'function'
        ? this.#source()
        : this.#source;
    const isFixed = this.#given !== undefined && this.#given.value === given && typeof this.#source !== 'function';
    if (isFixed) return this.#given?.json;
    const json = jsonOf(given);
    this.#given = { value: given, json };
    return json;
  }

  stop(): void {
    this.#subscription?.unsubscribe();
  }
}

/** A frozen copy as JSON, without null members. */
function jsonOf(value: unknown): Json | undefined {
  if (value === undefined || value === null) return undefined;
  const text: unknown = JSON.stringify(value);
  if (typeof text !== 'string') throw new TypeError(`expected JSON, got a value of type ${typeof value}`);
  const bytes = Buffer.byteLength(text);
  if (bytes > sectionLimits.bytes)
    throw new RangeError(`expected at most ${String(sectionLimits.bytes)} bytes of JSON, got ${String(bytes)}`);
  const stripped = withoutNulls(JSON.parse(text), 0);
  return stripped === undefined ? undefined : frozenCopy(stripped);
}

function withoutNulls(value: unknown, depth: number): Json | undefined {
  if (depth > sectionLimits.depth)
    throw new RangeError(`expected at most ${String(sectionLimits.depth)} levels, got more`);
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNulls(item, depth + 1) ?? null);
  if (value === null || !isJsonObject(value)) return value === null ? undefined : toJson(value);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): [string, Json][] => {
      const kept = withoutNulls(item, depth + 1);
      return kept === undefined ? [] : [[key, kept]];
    }),
  );
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
