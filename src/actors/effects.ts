/** Everything one thread's machines act through, made once. `provide.ts` puts it into their slots. */
import { randomBytes } from 'node:crypto';
import type { ActorSystem, ActorSystemInfo, AnyActorRef, AnyEventObject } from 'xstate';
import type { Clock, ElicitationReviewer, Root, RuntimeServers, SamplingHandler } from '../api.ts';
import type { ApprovalMemory } from '../domain/approval-memory.ts';
import type { AuthorizationOptions, Authorizer, SignInReader } from '../domain/authorization.ts';
import { defaults } from '../domain/config.ts';
import type { Limits, Policy } from '../domain/config.ts';
import type { FileProvider } from '../domain/files.ts';
import type { JsonObject } from '../domain/json.ts';
import { messageOf } from '../domain/errors.ts';
import type { ClientOffer, OpenLink } from '../domain/link.ts';
import { createRedactor } from '../domain/redact.ts';
import type { Redactor } from '../domain/redact.ts';
import type { RespondOutcome } from '../domain/elicitation.ts';
import type { PluginSnapshot } from '../domain/snapshot.ts';
import { Approvals } from './approvals.ts';
import { Calls } from './calls.ts';
import type { Authority } from './decide.ts';
import { createFacts } from './facts.ts';
import type { Facts } from './facts.ts';
import type { VerdictCache } from './link-actor.ts';
import { Publications } from './publications.ts';
import { Questions } from './questions.ts';
import type { CachedToolsPorts } from './known-tools.ts';
import { learnValues } from './known-values.ts';
import { ResultsCache } from './results-cache.ts';
import type { SharedResults } from './results-cache.ts';
import { Servers } from './servers.ts';
import type { LiveConnection } from './servers.ts';
import type { SignIns } from './sign-ins.ts';
import { createSignals } from './signals.ts';
import type { Subscriptions } from './subscriptions.ts';
import { beginTask } from './task-slot.ts';
import { createTurns } from './turns.ts';

export interface EffectsOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly policy: Policy;
  readonly reviewer: ElicitationReviewer | undefined;
  readonly sampling: SamplingHandler | 'ask' | undefined;
  readonly roots: readonly Root[] | undefined;
  readonly fileContent?: FileProvider;
  readonly thread?: string;
  readonly memory?: ApprovalMemory;
  readonly verdicts: VerdictCache;
  readonly cachedTools?: CachedToolsPorts;
  readonly sharedResults?: SharedResults;
  readonly openLink: OpenLink;
  readonly authorization?: AuthorizationOptions;
  readonly signInFor?: SignInReader;
}

export interface Effects {
  readonly clock: Clock;
  readonly facts: Facts;
  readonly redactor: Redactor;
  readonly servers: Servers;
  readonly calls: Calls;
  readonly questions: Questions;
  readonly approvals: Approvals;
  /** Loaded with the first subscription. */
  subscriptions: Subscriptions | undefined;
  readonly results: ResultsCache;
  /** Who decides for the person; replaced whole. */
  authority: Authority;
  readonly publications: Publications;
  /** Loaded with the first server that can be signed in to. */
  signIns: SignIns | undefined;
  authorizerOf(connection: LiveConnection): Promise<Authorizer | undefined>;
  readonly openLink: OpenLink;
  readonly verdicts: VerdictCache;
  readonly offer: ClientOffer;
  /** 0 to 1, for the jitter of retries. */
  random(): number;
  /** Where `respond` finds the outcome the router or a responder gave for its ticket. */
  readonly outcomes: Map<number, RespondOutcome>;
  roots: readonly Root[];
  /** The plugins that were selected, as they are now. */
  plugins: () => readonly PluginSnapshot[];
  /** What the last step was told of the world. */
  worldState: JsonObject;
  readonly fileContent: FileProvider | undefined;
  /** Notes what a runtime will name, its secrets first. */
  plan(generation: number, next: RuntimeServers): void;
  /** The live actor of a systemId. */
  lookUp(id: string): AnyActorRef | undefined;
  /** The actor system; set when the thread's root actor is made. */
  bind(root: AnyActorRef): void;
}

/** The effects of each thread that lives, by its actor system. */
const bound = new WeakMap<object, Effects>();

/** The effects of the thread an actor system belongs to. */
export function effectsOf(system: object): Effects {
  const effects = bound.get(system);
  if (effects === undefined) throw new Error('Expected the root actor to be bound before its effects run.');
  return effects;
}

/** Makes the effects of one thread. */
export function createEffects(options: EffectsOptions): Effects {
  const { clock, limits, signInFor } = options;
  const redactor = createRedactor();
  const facts = createFacts(clock, redactor);
  const publications = new Publications();
  let root: AnyActorRef | undefined;

  const system = (): ActorSystem<ActorSystemInfo> => {
    if (root === undefined) throw new Error('Expected the root actor to be bound before its effects run.');
    return root.system as ActorSystem<ActorSystemInfo>;
  };
  const lookUp = (id: string): AnyActorRef | undefined => {
    const target: AnyActorRef | undefined = system().get(id);
    return target?.getSnapshot().status === 'active' ? target : undefined;
  };
  const send = (id: string, event: AnyEventObject): void => {
    lookUp(id)?.send(event);
  };

  const cacheFailed = (error: unknown): void => {
    facts.warn('tool_cache_failed', `The cache of tools failed: ${messageOf(error)}. The thread goes on without.`);
  };
  const servers = new Servers({
    spawn: (input) => {
      send('connections', { type: 'fleet.spawn', id: input.connection, systemId: input.connection, input });
    },
    retry: ({ id }) => {
      send(id, { type: 'connection.retry', at: clock.now() });
    },
    close: ({ id }) => {
      send(id, { type: 'connection.close' });
    },
    now: () => clock.now(),
    redact: (text) => redactor.text(text),
    maxToolNameLength: limits.maxToolNameLength ?? defaults.maxToolNameLength,
    ...(options.cachedTools === undefined ? {} : { cachedTools: { ...options.cachedTools, onError: cacheFailed } }),
    believesFiles: (server) => filesFor(effects, server) !== undefined,
  });
  const turns = createTurns({
    callsPerThread: limits.callsPerThread ?? defaults.callsPerThread,
    callsPerServer: limits.callsPerServer ?? defaults.callsPerServer,
  });
  const calls: Calls = new Calls({
    clock,
    facts,
    redactor,
    servers,
    turns,
    signals: createSignals(),
    inputRequired: (record, result) => {
      questions.inputRequired(record, result);
    },
    authorizationRequired: (record, data) => questions.authorizationRequired(record, data),
    becameTask: (record, made) => {
      void beginTask(effects, record, made);
    },
    resultAsksToSignIn: (record, result) => {
      if (signInFor === undefined) return false;
      void import('./result-sign-in.ts').then(({ readFailedResult }) =>
        readFailedResult({ clock, facts, servers, calls, questions, signInFor }, record, result),
      );
      return true;
    },
    wantsSignIn: (record) => effects.signIns?.wanted(record) ?? false,
    awaitsSignIn: (record, goOn) => effects.signIns?.awaits(record, goOn) ?? false,
    sessionLost: (connection) => {
      connection.drains = true;
      send(connection.id, { type: 'connection.restart', at: clock.now() });
    },
  });
  const approvals = new Approvals({
    thread: options.thread ?? '',
    memory: options.memory,
    clock,
    warn: (code, message, server) => {
      facts.warn(code, message, server);
    },
  });
  const effects: Effects = {
    clock,
    facts,
    redactor,
    servers,
    calls,
    publications,
    signIns: undefined,
    authorizerOf: async (connection) => {
      if (!('url' in connection.config)) return undefined;
      const { authorizerOf, signInsOf } = await import('./authorizers.ts');
      const host = options.authorization ?? {};
      const { results } = effects;
      const signIns = (): SignIns | undefined => effects.signIns;
      const made = await authorizerOf(connection, { clock, redactor, facts, host, results, signIns });
      if (made !== undefined) effects.signIns ??= signInsOf(effects);
      return made;
    },
    openLink: options.openLink,
    verdicts: options.verdicts,
    offer: { sampling: options.sampling !== undefined, roots: true },
    random: Math.random,
    outcomes: new Map(),
    roots: options.roots ?? [],
    plugins: () => [],
    worldState: {},
    fileContent: options.fileContent,
    approvals,
    subscriptions: undefined,
    results: new ResultsCache(options.sharedResults ?? {}, () => clock.now()),
    authority: { policy: options.policy, reviewer: options.reviewer, sampling: options.sampling },
    get questions() {
      return questions;
    },
    plan(generation, next) {
      learnValues(redactor, next);
      servers.plan(generation, next);
    },
    lookUp,
    bind(actor) {
      root = actor;
      bound.set(actor.system, effects);
    },
  };
  const questions = new Questions({
    clock,
    facts,
    redactor,
    calls,
    servers,
    approvals,
    authority: () => effects.authority,
    randomToken: () => randomBytes(18).toString('base64url'),
    roots: () => effects.roots,
    system,
  });
  return effects;
}

/** Who gives the content of files to a server, if its declarations are believed now (NM-6). */
export function filesFor({ fileContent, authority }: Effects, server: string): FileProvider | undefined {
  return authority.policy.trust?.includes(server) === true ? fileContent : undefined;
}
