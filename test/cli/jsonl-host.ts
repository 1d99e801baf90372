/** The JSON-lines host on in-memory pipes, driven by what SPEC says and nothing else. */
import { PassThrough } from 'node:stream';
import { createThread, type ServerMap } from 'holdfast';
import { type EndSignal, type HostCommandOptions, runHost } from '../../src/cli/jsonl/host-command.ts';
import { isRecord } from '../../src/domain/json.ts';

export type Record_ = Readonly<Record<string, unknown>>;

export interface TestHostOptions {
  readonly servers?: ServerMap;
  readonly directory?: string;
  readonly command?: Partial<HostCommandOptions>;
}

/** Starts a host. End it with `close()`. */
export class TestHost {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  /** Every line of stdout, in order. */
  readonly records: Record_[] = [];
  readonly lines: string[] = [];
  readonly exitCode: Promise<number>;
  #signal: (signal: EndSignal) => void = () => undefined;
  #waiting: { readonly matches: (record: Record_) => boolean; readonly resolve: (record: Record_) => void }[] = [];
  #ids = 0;
  #rest = '';

  constructor(options: TestHostOptions = {}) {
    this.stdout.setEncoding('utf8');
    this.stdout.on('data', (chunk: string) => this.#take(chunk));
    const command = { jsonl: true, config: [], root: [], sampling: false, watch: false, ...options.command };
    this.exitCode = runHost(command, {
      stdin: this.stdin,
      stdout: this.stdout,
      directory: options.directory ?? import.meta.dirname,
      createThread: (given) => createThread({ ...given, servers: { ...given.servers, ...options.servers } }),
      onSignal: (listener) => {
        this.#signal = listener;
        return () => undefined;
      },
    });
  }

  /** Writes lines as they are. */
  write(...lines: readonly (string | Record_)[]): void {
    this.stdin.write(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  }

  /** Sends a request under an id of its own and gives its reply. */
  async ask(name: string, fields: Record_ = {}): Promise<Record_> {
    this.#ids += 1;
    const id = `test-${this.#ids}`;
    const reply = this.reply(id);
    this.write({ id, do: name, ...fields });
    return reply;
  }

  /** As {@link ask}, for the result. */
  async result(name: string, fields: Record_ = {}): Promise<Record_> {
    const { result, error } = await this.ask(name, fields);
    if (!isRecord(result)) throw new TypeError(`Expected a result of ${name}, got ${JSON.stringify(error)}.`);
    return result;
  }

  async reply(id: string | number): Promise<Record_> {
    return this.when((record) => 'id' in record && record['id'] === id);
  }

  /** The first event of a type, from the start on, that matches. */
  async event(type: string, matches: (event: Record_) => boolean = () => true): Promise<Record_> {
    const record = await this.when(({ event }) => isRecord(event) && event['type'] === type && matches(event));
    const { event } = record;
    if (!isRecord(event)) throw new TypeError('Expected an event.');
    return event;
  }

  async when(matches: (record: Record_) => boolean): Promise<Record_> {
    const found = this.records.find((record) => matches(record));
    if (found !== undefined) return found;
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }

  /** Where in the output the first match is. */
  indexOf(matches: (record: Record_) => boolean): number {
    return this.records.findIndex((record) => matches(record));
  }

  indexOfEvent(type: string): number {
    return this.indexOf(({ event }) => isRecord(event) && event['type'] === type);
  }

  indexOfReply(id: string | number): number {
    return this.indexOf((record) => 'id' in record && record['id'] === id);
  }

  signal(signal: EndSignal): void {
    this.#signal(signal);
  }

  /** Ends the input and gives the exit code. */
  async close(): Promise<number> {
    this.stdin.end();
    return this.exitCode;
  }

  #take(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const record: unknown = JSON.parse(line);
      if (!isRecord(record)) throw new TypeError(`Expected an object a line, got ${line}.`);
      this.lines.push(line);
      this.records.push(record);
      const heard = this.#waiting.filter(({ matches }) => matches(record));
      this.#waiting = this.#waiting.filter((waiting) => !heard.includes(waiting));
      for (const { resolve } of heard) resolve(record);
    }
  }
}

/** The name under which a step advertises a tool. */
export function toolName(step: Record_, server: string, tool: string): string {
  const tools: unknown = step['tools'];
  const found = Array.isArray(tools)
    ? tools.filter(isRecord).find((entry) => entry['server'] === server && entry['tool'] === tool)
    : undefined;
  if (typeof found?.['name'] !== 'string') throw new TypeError(`Expected the step to have ${server}/${tool}.`);
  return found['name'];
}
