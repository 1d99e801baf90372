/** A real second place on this machine: its own network, host name and files, as a container has, made of namespaces. */
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { commandLauncher, type Launcher } from '../../../src/index.ts';

/** What it takes: `unshare` and `nsenter` of util-linux, and the right to make user namespaces. */
const isolation = ['unshare', '--user', '--map-root-user', '--net', '--uts', '--mount'] as const;
const entry = ['--user', '--preserve-credentials', '--net', '--uts', '--mount'];
const setUp = 'mount -t tmpfs none "$1" && hostname box && echo up && exec cat > /dev/null';

export class SecondPlace implements AsyncDisposable {
  readonly #holder: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #directory: string;
  readonly #pid: number;

  private constructor(holder: ChildProcessByStdio<Writable, Readable, Readable>, directory: string, pid: number) {
    this.#holder = holder;
    this.#directory = directory;
    this.#pid = pid;
  }

  /** Makes one. Throws where this machine cannot: nothing is proven there, and that must show. */
  static async make(): Promise<SecondPlace> {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-place-'));
    const [command, ...flags] = isolation;
    const holder = spawn(command, [...flags, 'sh', '-c', setUp, 'sh', directory], { stdio: 'pipe' });
    const complaints: string[] = [];
    holder.stderr.on('data', (chunk: Buffer) => complaints.push(String(chunk)));
    const isUp = await Promise.race([
      once(holder.stdout, 'data').then(() => true),
      once(holder, 'exit').then(() => false),
      once(holder, 'error').then(([error]) => {
        complaints.push(String(error));
        return false;
      }),
    ]);
    if (isUp && holder.pid !== undefined) return new SecondPlace(holder, directory, holder.pid);
    rmSync(directory, { recursive: true, force: true });
    throw new Error(
      `Expected Linux with unshare, nsenter and user namespaces, to make a second place, got: ${complaints.join('')}`,
    );
  }

  /** Names this very place. */
  get handle(): string {
    return this.#network(this.#pid);
  }

  get launcher(): Launcher {
    return commandLauncher({ prefix: this.#prefix });
  }

  /** A path that leads to files of the place only there. */
  path(name: string): string {
    return join(this.#directory, name);
  }

  /** Writes a file there. */
  write(name: string, text: string): void {
    const path = this.path(name);
    this.#run(['mkdir', '-p', dirname(path)]);
    this.#run(['sh', '-c', 'cat > "$1"', 'sh', path], text);
  }

  /** Whether a process is in there. */
  holds(pid: number): boolean {
    return this.#network(pid) === this.handle;
  }

  /** The processes in there, but for the one that holds it open. */
  processes(): readonly number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== this.#pid && this.holds(pid));
  }

  get #prefix(): [string, ...string[]] {
    return ['nsenter', '--target', String(this.#pid), ...entry];
  }

  #run(words: readonly string[], input = ''): void {
    const [command, ...args] = this.#prefix;
    execFileSync(command, [...args, ...words], { input });
  }

  #network(pid: number): string {
    try {
      return readlinkSync(`/proc/${String(pid)}/ns/net`);
    } catch {
      // It ended meanwhile, or is not ours.
      return `none of ${String(pid)}`;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#holder, 'exit');
    this.#holder.stdin.end();
    await gone;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
