/**
 * What extensions say, followed (DESIGN §3).
 *
 * - Y1 One that throws, fails or says what is not fit is a warning; what it said before stays.
 * - Y2 What is a value, or comes as the streams are subscribed to, is there in the first of what is given.
 */
import { Observable, isObservable } from 'rxjs';
import type { Subscription } from 'rxjs';
import type { Extension, ExtensionServers, ExtensionSkill, WorldStateSection } from '../api.ts';
import { messageOf } from '../domain/errors.ts';
import { isRecord, shown } from '../domain/json.ts';
import { LiveSection } from './live-section.ts';

/** What one extension says of servers. */
export interface ExtensionOverlay {
  readonly extension: string;
  readonly order: number;
  readonly servers: ExtensionServers;
}

/** What one extension, or the host itself, says of the world and of skills. */
export interface ExtensionParts {
  /** `undefined` for the host. */
  readonly extension: string | undefined;
  readonly sections: readonly LiveSection[];
  readonly skills: readonly ExtensionSkill[];
}

/** Everything extensions say now. `overlays` is the same list until one of them changes. */
export interface ExtensionsNow {
  readonly overlays: readonly ExtensionOverlay[];
  readonly parts: readonly ExtensionParts[];
}

/** What following extensions needs. */
export interface ExtensionPorts {
  /** @throws HoldfastError for servers that cannot be used. */
  checkServers(servers: unknown): void;
  warn(message: string): void;
}

/** Follows extensions until it is unsubscribed from. Never errs. */
export function followExtensions(
  extensions: readonly Extension[],
  hostSections: readonly WorldStateSection[],
  ports: ExtensionPorts,
): Observable<ExtensionsNow> {
  return new Observable((subscriber) => {
    const host: ExtensionParts = {
      extension: undefined,
      sections: hostSections.map((section) => new LiveSection(section)),
      skills: [],
    };
    const followed = extensions.map((extension, order) => new Followed(extension, order));
    let overlays: readonly ExtensionOverlay[] = [];
    let isReady = false;
    const tell = (serversChanged: boolean): void => {
      if (serversChanged) overlays = followed.flatMap((each) => each.overlay);
      if (isReady) subscriber.next({ overlays, parts: [host, ...followed.map((each) => each.parts)] });
    };
    const subscriptions = followed.flatMap((each) => each.follow(ports, tell));
    isReady = true;
    tell(true);
    return () => {
      for (const subscription of subscriptions) quietly(() => subscription.unsubscribe());
      for (const section of [host, ...followed.map((each) => each.parts)].flatMap(({ sections }) => sections))
        quietly(() => section.stop());
    };
  });
}

/** Checks sections as a list, and what each is named. @throws TypeError that says what is wrong. */
export function checkSections(sections: unknown): asserts sections is readonly WorldStateSection[] {
  if (!Array.isArray(sections)) throw new TypeError(`expected a list of sections, got ${shown(sections)}`);
  for (const section of sections as readonly unknown[])
    if (!isRecord(section) || typeof section['id'] !== 'string' || !('value' in section))
      throw new TypeError(`expected a section as { id, value }, got ${shown(section)}`);
}

class Followed {
  readonly #extension: Extension;
  readonly #order: number;
  #servers: ExtensionServers | undefined;
  #sections: readonly LiveSection[] = [];
  #skills: readonly ExtensionSkill[] = [];

  constructor(extension: Extension, order: number) {
    this.#extension = extension;
    this.#order = order;
  }

  get overlay(): readonly ExtensionOverlay[] {
    if (this.#servers === undefined) return [];
    return [{ extension: this.#extension.id, order: this.#order, servers: this.#servers }];
  }

  get parts(): ExtensionParts {
    return { extension: this.#extension.id, sections: this.#sections, skills: this.#skills };
  }

  follow(ports: ExtensionPorts, tell: (serversChanged: boolean) => void): readonly Subscription[] {
    const extension = this.#extension;
    return [
      this.#part(
        () => extension.servers,
        'servers',
        ports,
        (servers) => {
          checkOverlay(servers, ports);
          this.#servers = servers;
          tell(true);
        },
      ),
      this.#part(
        () => extension.worldState,
        'worldState',
        ports,
        (sections) => {
          checkSections(sections);
          const before = this.#sections;
          this.#sections = sections.map((section) => new LiveSection(section));
          for (const section of before) quietly(() => section.stop());
          tell(false);
        },
      ),
      this.#part(
        () => extension.skills,
        'skills',
        ports,
        (skills) => {
          checkSkills(skills);
          this.#skills = skills;
          tell(false);
        },
      ),
    ].flatMap((subscription) => subscription ?? []);
  }

  #part<TValue>(
    get: () => TValue | Observable<TValue> | undefined,
    part: string,
    ports: ExtensionPorts,
    take: (value: TValue) => void,
  ): Subscription | undefined {
    // Told once until it is right again: a stream may be wrong at any rate.
    let isTold = false;
    const fault = (error: unknown): void => {
      if (isTold) return;
      isTold = true;
      ports.warn(
        `Extension "${this.#extension.id}": its "${part}" cannot be used, and what it said before stays: ${messageOf(error)}`,
      );
    };
    const takeSafely = (value: TValue): void => {
      try {
        take(value);
        isTold = false;
      } catch (error) {
        fault(error);
      }
    };
    try {
      const given = get();
      if (isObservable(given)) return given.subscribe({ next: takeSafely, error: fault });
      if (given !== undefined) takeSafely(given);
    } catch (error) {
      fault(error);
    }
    return undefined;
  }
}

/** What a stream throws as it is left concerns nobody any more. */
function quietly(leave: () => void): void {
  try {
    leave();
  } catch {
    // It is left all the same.
  }
}

function checkOverlay(servers: ExtensionServers, ports: ExtensionPorts): void {
  const given: unknown = servers;
  if (!isRecord(given)) throw new TypeError(`expected { set, remove }, got ${shown(given)}`);
  const { set, remove } = given;
  if (set !== undefined) ports.checkServers(set);
  if (remove !== undefined && !(Array.isArray(remove) && remove.every((name) => typeof name === 'string')))
    throw new TypeError(`expected "remove" to be a list of names, got ${shown(remove)}`);
}

function checkSkills(skills: unknown): void {
  if (!Array.isArray(skills)) throw new TypeError(`expected a list of skills, got ${shown(skills)}`);
  for (const skill of skills as readonly unknown[])
    if (!isRecord(skill) || (typeof skill['text'] !== 'string' && typeof skill['text'] !== 'function'))
      throw new TypeError(`expected a skill as { name, description, text }, got ${shown(skill)}`);
}
