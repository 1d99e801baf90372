/**
 * What a question costs beside many that are open: register (asked → shown) and respond (answer → the server has it),
 * at 1,000 and at 100,000 pending on one thread (EL-12). The questions are those of 128 legacy servers, of no call: one server
 * may have 1,024 of them open.
 */
import { performance } from 'node:perf_hooks';
import type { Transport } from '@modelcontextprotocol/client';
import { createThread } from 'holdfast';
import type { Thread } from 'holdfast';
import { serveStub } from '../servers/stub.ts';
import type { Stub } from '../servers/stub.ts';
import { spreadOf } from '../stats.ts';
import { collectGarbage, isQuick, progress, report } from './measure.ts';

const levels = isQuick ? [1_000, 20_000] : [1_000, 100_000];
const servers = 128;
const batch = 500;
const batches = isQuick ? 8 : 20;

const params = {
  mode: 'form',
  message: 'Which name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};

class Asker {
  readonly thread: Thread;
  readonly #open: string[] = [];
  readonly #stubs: Stub[] = [];
  #asked = 0;
  #answered = 0;
  #shown = 0;
  #until: { readonly done: () => boolean; readonly resolve: () => void } | undefined;

  constructor() {
    const connect = async (transport: Transport): Promise<void> => {
      const stub = await serveStub(transport);
      this.#stubs.push(stub);
      stub.onResponse = () => {
        this.#answered += 1;
        this.#check();
      };
    };
    const config = { protocol: 'legacy' as const, inMemory: () => ({ connect }) };
    this.thread = createThread({
      servers: Object.fromEntries(Array.from({ length: servers }, (_, index) => [`stub${String(index)}`, config])),
    });
    this.thread.events$.subscribe((event) => {
      if (event.type !== 'elicitation.opened') return;
      this.#open.push(event.elicitation.token);
      this.#shown += 1;
      this.#check();
    });
  }

  /** Asks and resolves once all are shown. */
  async ask(count: number): Promise<void> {
    const target = this.#shown + count;
    for (let index = 0; index < count; index++) {
      this.#asked += 1;
      this.#stubs[this.#asked % this.#stubs.length]?.send({ id: this.#asked, method: 'elicitation/create', params });
    }
    await this.#when(() => this.#shown >= target);
  }

  /** Answers the oldest and resolves once the server has all answers. */
  async answer(count: number): Promise<void> {
    const target = this.#answered + count;
    for (const token of this.#open.splice(0, count)) {
      const { status } = await this.thread.respond(token, { action: 'accept', content: { name: 'x' } });
      if (status !== 'delivered') throw new Error(`Expected the answer to be delivered, got "${status}".`);
    }
    await this.#when(() => this.#answered >= target);
  }

  #when(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#until = { done, resolve };
    });
  }

  #check(): void {
    if (this.#until?.done() !== true) return;
    this.#until.resolve();
    this.#until = undefined;
  }
}

const results = [];
const asker = new Asker();
await asker.thread.ready();
await warmUp();
let pending = 0;
for (const level of levels) {
  progress(`${String(level)} pending questions`);
  while (pending < level) {
    await asker.ask(batch);
    pending += batch;
  }
  await collectGarbage();
  const register: number[] = [];
  const respond: number[] = [];
  for (let index = 0; index < batches; index++) {
    register.push(await timed(() => asker.ask(batch)));
    respond.push(await timed(() => asker.answer(batch)));
  }
  results.push({ pending: level, registerUs: spreadOf(register), respondUs: spreadOf(respond), rssMb: rssMb() });
}
const [few, many] = results;
report([
  {
    levels: results,
    registerRatio: (many?.registerUs.median ?? Number.NaN) / (few?.registerUs.median ?? Number.NaN),
    respondRatio: (many?.respondUs.median ?? Number.NaN) / (few?.respondUs.median ?? Number.NaN),
  },
]);
await asker.thread.close();

async function warmUp(): Promise<void> {
  for (let index = 0; index < 10; index++) {
    await asker.ask(batch);
    await asker.answer(batch);
  }
}

/** CPU of one question of a batch, in microseconds: the batch waits for nothing but this process. */
async function timed(work: () => Promise<void>): Promise<number> {
  const cpuBegin = process.cpuUsage();
  const begin = performance.now();
  await work();
  const cpu = process.cpuUsage(cpuBegin);
  return Math.min(cpu.user + cpu.system, (performance.now() - begin) * 1_000) / batch;
}

function rssMb(): number {
  return process.memoryUsage().rss / 1_048_576;
}
