/** The façade of a thread: promises and observables over its actors. The composition root of one conversation. */
import { randomUUID } from 'node:crypto';
import { createActor } from 'xstate';
import type { InspectionEvent } from 'xstate';
import type {
  AuthorizationOutcome,
  AuthorizeOptions,
  BeginStepOptions,
  CloseOptions,
  Publication,
  ReadyOptions,
  ReplaceOptions,
  Root,
  RuntimeServers,
  Step,
  Thread,
  ThreadOptions,
} from './api.ts';
import { createEffects } from './actors/effects.ts';
import type { Effects } from './actors/effects.ts';
import type { VerdictCache } from './actors/link-actor.ts';
import { learnValues } from './actors/known-values.ts';
import { provideThread } from './actors/provide.ts';
import type { SharedResults } from './actors/results-cache.ts';
import { closedError } from './actors/publications.ts';
import { snapshotOf } from './actors/thread-snapshot.ts';
import { checkClock, checkRoots, sandboxStateOf } from './check-arguments.ts';
import { checkAuthorization } from './check-authorization.ts';
import { checkExtensions } from './check-extensions.ts';
import { checkReplacement, checkWait } from './check-requests.ts';
import { checkBesideServers, checkServers } from './check-servers.ts';
import { checkLimits, checkPolicy } from './check-settings.ts';
import { cachedToolsOf } from './cached-tools.ts';
import { systemClock } from './clock.ts';
import type { Catalog } from './domain/catalog.ts';
import { defaults } from './domain/config.ts';
import type { Policy } from './domain/config.ts';
import type { ElicitationAnswer, RespondOutcome } from './domain/elicitation.ts';
import { HoldfastError, messageOf } from './domain/errors.ts';
import type { OpenLink } from './domain/link.ts';
import type { ThreadSnapshot } from './domain/snapshot.ts';
import type { ToolCache } from './domain/tool-cache.ts';
import { followCatalog } from './follow-catalog.ts';
import type { FollowedCatalog } from './follow-catalog.ts';
import { createInspectorBridge } from './inspector/bridge.ts';
import type { ToolView } from './mcp/tool-view.ts';
import { actorOf } from './machines/actor-of.ts';
import type { CallInput } from './machines/call-context.ts';
import { isRouter, isStep } from './machines/refs.ts';
import { outcomeOf } from './machines/router.ts';
import type { RouterActorRef } from './machines/router.ts';
import { stepSystemId } from './machines/thread.ts';
import type { ThreadActorRef } from './machines/thread.ts';
import { checkServersGivenOnce, firstServers, ServerProjection } from './server-projection.ts';
import { CurrentRequester } from './resource-requests.ts';
import { restartServer } from './restart-server.ts';
import { createStep, endStep } from './step.ts';
import type { StepWorld, World } from './thread-world.ts';
import { abortedError, waitReady } from './wait-ready.ts';

/** What a host shares with its threads. */
export interface SharedParts {
  readonly verdicts: VerdictCache;
  readonly toolCache?: ToolCache;
  /** The public results of the host. */
  readonly results?: SharedResults;
  readonly openLink: OpenLink;
  /** The policy a thread's own goes over. */
  readonly policy?: Policy;
  /** Called once the thread is closed. */
  onClosed?(): void;
  /** Sees what XState tells of every actor, instead of `inspect`: for tests of the charts. */
  readonly observe?: (event: InspectionEvent) => void;
}

/** Makes a thread over shared parts. Its servers start once the requests already received are read. */
export function openThread(options: ThreadOptions, shared: SharedParts): Thread {
  return new LiveThread(options, shared);
}

class LiveThread extends CurrentRequester implements Thread {
  readonly id: string;
  readonly events$: Thread['events$'];
  readonly elicitations$: Thread['elicitations$'];
  readonly #effects: Effects;
  readonly #root: ThreadActorRef;
  readonly #policyBelow: Policy;
  readonly #readyTimeoutMs: number;
  readonly #closed: Promise<void>;
  #router: RouterActorRef | undefined;
  readonly #projection: ServerProjection;
  #catalog: FollowedCatalog | undefined;
  #world: Promise<World> | undefined;
  #generations = 0;
  #steps = 0;
  #tickets = 0;
  #isClosing = false;

  constructor(options: ThreadOptions, shared: SharedParts) {
    super();
    checkServersGivenOnce(options);
    if (options.servers !== undefined) checkServers(options.servers);
    this.id = options.id ?? randomUUID();
    const clock = options.clock ?? systemClock;
    const limits = options.limits ?? {};
    checkClock(clock);
    checkLimits(limits);
    checkBesideServers(options);
    checkExtensions(options);
    checkAuthorization(options.authorization);
    if (options.roots !== undefined) checkRoots(options.roots);
    this.#policyBelow = shared.policy ?? {};
    const policy = { ...this.#policyBelow, ...options.policy };
    if (options.policy !== undefined) checkPolicy(options.policy);
    this.#readyTimeoutMs = limits.readyTimeoutMs ?? defaults.readyTimeoutMs;
    this.#effects = createEffects({
      clock,
      limits,
      policy,
      reviewer: options.reviewer,
      sampling: options.sampling,
      roots: options.roots,
      ...(options.fileContent === undefined ? {} : { fileContent: options.fileContent }),
      thread: this.id,
      ...(options.approvals === undefined ? {} : { memory: options.approvals }),
      verdicts: shared.verdicts,
      ...(options.authorization === undefined ? {} : { authorization: options.authorization }),
      ...(options.signInFor === undefined ? {} : { signInFor: options.signInFor }),
      ...cachedToolsOf(options, shared.toolCache),
      ...(shared.results === undefined ? {} : { sharedResults: shared.results }),
      openLink: shared.openLink,
    });
    const { facts, questions, redactor } = this.#effects;
    this.events$ = facts.events$;
    this.elicitations$ = questions.shown.changes$;
    const bridge =
      options.inspect === undefined
        ? undefined
        : createInspectorBridge({
            redact: (value) => redactor.value(value),
            now: () => clock.now(),
            send: options.inspect,
          });
    const inspect = shared.observe ?? bridge?.inspect;
    this.#root = createActor(provideThread(), {
      id: 'thread',
      clock,
      input: {
        thread: this.id,
        graceMs: limits.startGraceMs ?? defaults.startGraceMs,
        settledLimit: limits.settledTokens ?? defaults.settledTokens,
      },
      ...(inspect === undefined ? {} : { inspect }),
    }) as ThreadActorRef;
    this.#effects.bind(this.#root);
    this.#closed = this.#whenDone(shared);
    this.#root.start();
    const router = actorOf(this.#root.system, 'router');
    if (isRouter(router)) this.#router = router;
    this.#projection = new ServerProjection(options);
    this.#effects.plugins = () => this.#projection.plugins;
    this.#begin(options);
  }

  /** Asks for the first runtime, and follows the catalog that names the next ones. */
  #begin(options: ThreadOptions): void {
    const { redactor, facts, publications } = this.#effects;
    const bases$ = this.#projection.basesOf(options);
    if (bases$ === undefined) {
      // Who waits for the first runtime hears of its failure; nobody has to.
      this.#replace(this.#projection.now(firstServers(options)), 'settled').catch(() => undefined);
      return;
    }
    // Before anything is told.
    learnValues(redactor, firstServers(options));
    const inputs$ = this.#projection.inputs(
      bases$,
      (message, code = 'environment_failed') => facts.warn(code, message),
      (message) => facts.warn('extension_failed', message),
    );
    this.#catalog = followCatalog(inputs$, {
      project: (input) => this.#projection.project(input),
      replace: (next) => this.#replace(next, 'settled'),
      warn: (message) => facts.warn('catalog_failed', message),
      fail: (error) => publications.rejected(0, error),
    });
  }

  protected get effects(): Effects {
    return this.#effects;
  }

  async ready(options: ReadyOptions = {}): Promise<void> {
    checkWait(options, 'ready');
    if (this.#isClosing) throw closedError();
    const { clock, publications } = this.#effects;
    const { signal, timeoutMs = this.#readyTimeoutMs } = options;
    await waitReady({ clock, publications, signal, timeoutMs, snapshot: () => this.snapshot() });
  }

  snapshot(): ThreadSnapshot {
    return snapshotOf(this.id, this.#root, this.#effects);
  }

  async beginStep(options: BeginStepOptions = {}): Promise<Step> {
    checkWait(options, 'beginStep');
    const sandboxState = sandboxStateOf(options);
    if (this.#effects.publications.current === 0 || this.#isClosing) await this.ready(options);
    if (options.signal?.aborted === true) throw abortedError('Beginning a step', options.signal);
    if (this.#isClosing) throw closedError();
    this.#steps += 1;
    const id = `step-${String(this.#steps)}`;
    this.#root.send({ type: 'step.begin', step: id });
    const ref = this.#effects.lookUp(stepSystemId(id));
    if (!isStep(ref)) throw closedError();
    const { context, children } = ref.getSnapshot();
    const { calls } = children;
    if (calls === undefined) throw new HoldfastError('internal', `Expected step "${id}" to have a fleet of calls.`);
    const view = this.#effects.servers.view(context.generation);
    const end = (): Promise<void> => endStep(ref, this.#effects.clock);
    return createStep({
      id,
      generation: context.generation,
      view,
      world: await this.#worldOf(context.generation, view, options).catch(async (error: unknown) => {
        await end();
        throw error;
      }),
      effects: this.#effects,
      approvalFallback: 'approve',
      ...(sandboxState === undefined ? {} : { sandboxState }),
      calls,
      nextCallId: () => this.nextCallId(),
      isClosed: () => this.#isClosing,
      end,
    });
  }

  async replaceRuntime(
    given: RuntimeServers | { readonly catalog: Catalog },
    options: ReplaceOptions = {},
  ): Promise<Publication> {
    if (this.#isClosing) throw closedError();
    checkReplacement(given, options);
    if (options.signal?.aborted === true) throw abortedError('The replacement', options.signal);
    const { signal } = options;
    const next = this.#projection.now(given);
    const generation = this.#generations + 1;
    const publication = this.#replace(next, options.publish ?? 'settled');
    this.#catalog?.note(next, publication);
    this.#projection.rebase(given, publication);
    if (signal === undefined) return publication;
    const onAbort = (): void => {
      this.#effects.publications.cancelled(generation, abortedError('The replacement', signal));
      this.#root.send({ type: 'runtime.cancel', generation, reason: 'its caller aborted it' });
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return publication.finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  }

  /** What a step that has begun is told of the world: what makes it is loaded with the first step. */
  async #worldOf(generation: number, view: ToolView, { signal }: BeginStepOptions): Promise<StepWorld> {
    this.#world ??= import('./thread-world.ts').then(
      (module) =>
        new module.World({
          effects: this.#effects,
          projection: this.#projection,
          requester: (of) => (server, method, params, given) => this.requestOf(of, server, method, params, given ?? {}),
          keep: (state) => {
            this.#effects.worldState = state;
          },
        }),
    );
    const world = await (
      await this.#world
    ).begin(generation, view, () => {
      if (signal?.aborted === true) throw abortedError('Beginning a step', signal);
    });
    if (this.#isClosing) throw closedError();
    return world;
  }

  respond(token: string, answer: ElicitationAnswer): Promise<RespondOutcome> {
    return Promise.resolve(this.#respond(token, answer));
  }

  async restartServer(name: string): Promise<void> {
    if (this.#isClosing) throw closedError();
    await restartServer(this.#effects, name);
  }

  async authorize(server: string, options: AuthorizeOptions = {}): Promise<void> {
    const { authorizeServer } = await import('./sign-in.ts');
    await authorizeServer(this.#effects, server, options, () => this.whenReady(options));
  }

  async finishAuthorization(callbackUrl: string): Promise<AuthorizationOutcome> {
    const { finishAuthorization } = await import('./sign-in.ts');
    return finishAuthorization(this.#effects, callbackUrl);
  }

  setRoots(roots: readonly Root[]): void {
    checkRoots(roots);
    this.#effects.roots = [...roots];
    for (const { link } of this.#effects.servers.connections) link?.notify('notifications/roots/list_changed');
  }

  setPolicy(policy: Policy): void {
    checkPolicy(policy);
    this.#effects.authority = { ...this.#effects.authority, policy: { ...this.#policyBelow, ...policy } };
  }

  close(options?: CloseOptions): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#catalog?.stop();
      void this.#world?.then((world) => world.stop());
      this.#effects.publications.close();
      this.#root.send({
        type: 'thread.close',
        reason: options?.reason ?? 'the thread was closed',
        at: this.#effects.clock.now(),
      });
    }
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #replace(next: RuntimeServers, publish: 'settled' | 'immediate'): Promise<Publication> {
    this.#generations += 1;
    const generation = this.#generations;
    this.#effects.plan(generation, next);
    const publication = this.#effects.publications.wait(generation);
    this.#root.send({ type: 'runtime.replace', generation, publish });
    return publication;
  }

  #respond(token: string, answer: ElicitationAnswer): RespondOutcome {
    const router = this.#router;
    if (router === undefined) return { status: 'unknown' };
    const { status, context } = router.getSnapshot();
    if (status !== 'active') return outcomeOf(context, token);
    this.#tickets += 1;
    const ticket = this.#tickets;
    const { outcomes, clock } = this.#effects;
    router.send({ type: 'router.respond', token, answer, at: clock.now(), ticket });
    const outcome = outcomes.get(ticket) ?? { status: 'unknown' };
    outcomes.delete(ticket);
    return outcome;
  }

  protected beginRequest(input: CallInput): void {
    this.#root.send({ type: 'request.begin', input });
  }

  #whenDone(shared: SharedParts): Promise<void> {
    const { facts, questions, approvals } = this.#effects;
    return new Promise<void>((resolve) => {
      const done = (): void => {
        this.#isClosing = true;
        this.#catalog?.stop();
        void this.#world?.then((world) => world.stop());
        this.#effects.publications.close();
        facts.end();
        questions.shown.end();
        approvals.close();
        shared.onClosed?.();
        resolve();
      };
      this.#root.subscribe({
        complete: done,
        error: (error) => {
          facts.warn('internal', `The thread failed: ${messageOf(error)}`);
          done();
        },
      });
    });
  }
}
