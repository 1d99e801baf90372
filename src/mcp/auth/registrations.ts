/**
 * The clients registered at one authorization server, for every server it signs in to and however the sign-ins end
 * (SPEC AU-1).
 *
 * Owns an entry of the store: `R1` one that has led to nothing a few times in a row may be forgotten there, which only the
 * page a person sees would say: it is not used again.
 */
import { z } from 'zod';
import type { CredentialStore } from '../../domain/authorization.ts';
import { clientSchema } from './credentials.ts';
import type { KnownClient } from './credentials.ts';

const entrySchema = z.object({
  version: z.literal(1),
  clients: z.array(z.object({ client: clientSchema, tries: z.number() })),
});

type Registered = z.infer<typeof entrySchema>['clients'][number];

/** How many are kept: each has a way back of its own. */
const maxKept = 8;
/** How many sign-ins in a row one may be used for that nothing comes of. */
const maxTries = 5;

export class Registrations {
  readonly #store: CredentialStore;
  readonly #key: string;
  readonly #signal: AbortSignal;

  constructor(store: CredentialStore, issuer: string, signal: AbortSignal) {
    this.#store = store;
    this.#key = `clients of ${issuer}`;
    this.#signal = signal;
  }

  /** The clients that may be used, a server's own before those of others. What cannot be read is registered anew. */
  async list(own: KnownClient | undefined): Promise<readonly KnownClient[]> {
    const found = await this.#read().catch((): readonly Registered[] => []);
    const spent = new Set(found.flatMap(({ client, tries }) => (tries < maxTries ? [] : [client.client_id])));
    const all = [...(own === undefined ? [] : [own]), ...found.map(({ client }) => client)];
    return all.filter(({ client_id }) => !spent.has(client_id));
  }

  /** A sign-in begins with a client. */
  began(client: KnownClient): Promise<void> {
    return this.#change((all) => {
      const before = all.find((each) => each.client.client_id === client.client_id)?.tries ?? 0;
      const others = all.filter((each) => each.client.client_id !== client.client_id);
      return [{ client, tries: before + 1 }, ...others];
    });
  }

  /** Somebody signed in with a client, which is what it is now. */
  succeeded(client: KnownClient): Promise<void> {
    return this.#change((all) =>
      all.map((each) => (each.client.client_id === client.client_id ? { client, tries: 0 } : each)),
    );
  }

  /** The authorization server does not know a client any more. */
  forget(clientId: string): Promise<void> {
    return this.#change((all) => all.filter(({ client }) => client.client_id !== clientId));
  }

  /** Keeps none. */
  clear(): Promise<void> {
    return this.#change(() => []);
  }

  async #read(): Promise<readonly Registered[]> {
    const text = await this.#store.get(this.#key);
    if (text === undefined) return [];
    const parsed = entrySchema.safeParse(parseJson(text));
    return parsed.success ? parsed.data.clients : [];
  }

  /** What cannot be kept is registered anew: it costs no sign-in. */
  async #change(how: (all: readonly Registered[]) => readonly Registered[]): Promise<void> {
    const run = async (): Promise<void> => {
      const before = await this.#read();
      const clients = how(before).slice(0, maxKept);
      if (clients.length > 0) await this.#store.set(this.#key, JSON.stringify({ version: 1, clients }));
      else if (before.length > 0) await this.#store.delete(this.#key);
    };
    await this.#store.exclusively(this.#key, run, { signal: this.#signal }).catch(() => undefined);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
