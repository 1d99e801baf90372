/**
 * The notifications of a server that concern no request: list changes, resource updates, logs, finished url questions.
 *
 * Owns the changes of the current macrotask; {@link LinkHandlers.onListChanged} hears each kind once of a burst, and
 * {@link LinkHandlers.onResourceUpdated} each resource. While a link opens nobody could list anew: changes are kept until
 * `release`.
 */
import { isTooDeep, maxDepth } from '../domain/depth.ts';
import type { LinkHandlers } from '../domain/link.ts';
import type { JsonObject } from '../domain/json.ts';

type ListKind = Parameters<LinkHandlers['onListChanged']>[0];

const listChanges: Readonly<Record<string, ListKind>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
};

export class Notices {
  readonly #handlers: LinkHandlers;
  readonly #changed = new Set<ListKind>();
  readonly #updated = new Set<string>();
  #flush: NodeJS.Immediate | undefined;
  #isHeld = true;

  constructor(handlers: LinkHandlers) {
    this.#handlers = handlers;
  }

  /** Takes one notification. Returns false for those it has no use for; malformed ones are dropped. */
  take(method: string, params: JsonObject): boolean {
    const kind = Object.hasOwn(listChanges, method) ? listChanges[method] : undefined;
    if (kind !== undefined) {
      this.changed(kind);
      return true;
    }
    switch (method) {
      case 'notifications/resources/updated':
        if (typeof params['uri'] === 'string') this.updated(params['uri']);
        return true;
      case 'notifications/message':
        this.#log(params);
        return true;
      case 'notifications/elicitation/complete':
        if (typeof params['elicitationId'] === 'string') this.#handlers.onElicitationComplete(params['elicitationId']);
        return true;
      case 'notifications/tasks':
      case 'notifications/tasks/status':
        this.#handlers.onTaskStatus?.(params);
        return true;
      default:
        return false;
    }
  }

  /** Tells of a changed list once this macrotask is over. */
  changed(kind: ListKind): void {
    this.#changed.add(kind);
    if (!this.#isHeld) this.#flushLater();
  }

  /** Tells of a changed resource once this macrotask is over. */
  updated(uri: string): void {
    this.#updated.add(uri);
    if (!this.#isHeld) this.#flushLater();
  }

  /** Forgets the list changes so far: what is listed from now on has them. */
  forget(): void {
    this.#changed.clear();
  }

  /** Tells the list changes kept so far, in a later macrotask, and every other from now on. */
  release(): void {
    this.#isHeld = false;
    if (this.#changed.size + this.#updated.size > 0) this.#flushLater();
  }

  #flushLater(): void {
    this.#flush ??= setImmediate(() => {
      this.#flush = undefined;
      const kinds = [...this.#changed];
      const uris = [...this.#updated];
      this.#changed.clear();
      this.#updated.clear();
      for (const each of kinds) this.#handlers.onListChanged(each);
      for (const each of uris) this.#handlers.onResourceUpdated(each);
    });
  }

  /** Drops what was not told yet. */
  clear(): void {
    if (this.#flush !== undefined) clearImmediate(this.#flush);
    this.#flush = undefined;
    this.#changed.clear();
    this.#updated.clear();
  }

  #log(params: JsonObject): void {
    if (isTooDeep(params['data'])) {
      this.#handlers.onWarning('invalid_message', `Expected a log of at most ${maxDepth} levels, got a deeper one.`);
      return;
    }
    const level = typeof params['level'] === 'string' ? params['level'] : 'info';
    if (typeof params['logger'] === 'string') this.#handlers.onLog(level, params['data'], params['logger']);
    else this.#handlers.onLog(level, params['data']);
  }
}
