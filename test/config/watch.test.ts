/** Configurations of real files, while they change. */
import { mkdir, mkdtemp, realpath, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualTimeScheduler } from 'rxjs';
import type { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ResolvedConfig,
  watchConfig,
  type WatchConfigOptions,
  type WatchWarning,
} from '../../src/config/index.ts';

let directory = '';

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-watch-')));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** What a watched set of files emits and warns of, each to be taken once, in order. */
class Watched implements Disposable {
  readonly emitted: ResolvedConfig[] = [];
  readonly warnings: WatchWarning[] = [];
  readonly #subscription: Subscription;
  readonly #wakers = new Set<() => void>();
  #taken = 0;
  #warned = 0;

  constructor(files: readonly string[], options: WatchConfigOptions = {}) {
    const wake = (): void => {
      for (const look of this.#wakers) look();
    };
    const onWarning = (warning: WatchWarning): void => {
      this.warnings.push(warning);
      wake();
    };
    this.#subscription = watchConfig(files, { debounceMs: 30, graceMs: 60, ...options, onWarning }).subscribe(
      (config) => {
        this.emitted.push(config);
        wake();
      },
    );
  }

  /** The commands of the next configuration, by server. */
  async next(): Promise<Readonly<Record<string, string>>> {
    const index = this.#taken++;
    await this.#until(() => this.emitted.length > index);
    return commandsOf(this.emitted[index]);
  }

  async nextWarning(): Promise<WatchWarning> {
    const index = this.#warned++;
    await this.#until(() => this.warnings.length > index);
    return this.warnings[index] ?? expect.fail('Expected a warning.');
  }

  /** Resolves when a configuration with this command has come. */
  async untilCommand(command: string): Promise<void> {
    await this.#until(() => Object.values(commandsOf(this.emitted.at(-1))).includes(command));
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#wakers.delete(look);
        resolve();
      };
      this.#wakers.add(look);
      look();
    });
  }

  [Symbol.dispose](): void {
    this.#subscription.unsubscribe();
  }
}

function commandsOf(config: ResolvedConfig | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(config?.servers ?? {});
  return Object.fromEntries(entries.map(([name, server]) => [name, 'command' in server ? server.command : '']));
}

function documentOf(command: string): string {
  return JSON.stringify({ mcpServers: { docs: { command } } });
}

async function write(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

describe('good edits', () => {
  test('CA-4 emits what is there, then each change once', async () => {
    const file = await write('holdfast.json', documentOf('one'));
    using watch = new Watched([file]);
    expect(await watch.next()).toEqual({ docs: 'one' });
    await write('holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ docs: 'two' });
    await write('holdfast.json', documentOf('three'));
    expect(await watch.next()).toEqual({ docs: 'three' });
    expect(watch.emitted).toHaveLength(3);
    expect(watch.warnings).toEqual([]);
  });

  test('CA-4 a document that says the same in other words is no change', async () => {
    const file = await write('holdfast.json', documentOf('one'));
    using watch = new Watched([file]);
    await watch.next();
    await write('holdfast.json', `// the same\n${documentOf('one')}`);
    const other = await write('other.json', documentOf('other'));
    using both = new Watched([file, other]);
    await both.next();
    await write('holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ docs: 'two' });
    expect(watch.emitted).toHaveLength(2);
  });

  test('CA-4 follows several files; the later one still wins by name', async () => {
    const first = await write(
      '.mcp.json',
      JSON.stringify({ mcpServers: { a: { command: 'a' }, b: { command: 'b' } } }),
    );
    const second = await write('holdfast.json', JSON.stringify({ mcpServers: {} }));
    using watch = new Watched([first, second]);
    expect(await watch.next()).toEqual({ a: 'a', b: 'b' });
    await write('holdfast.json', JSON.stringify({ mcpServers: { b: { command: 'mine' } } }));
    expect(await watch.next()).toEqual({ a: 'a', b: 'mine' });
    await write('.mcp.json', JSON.stringify({ mcpServers: { a: { command: 'again' } } }));
    expect(await watch.next()).toEqual({ a: 'again', b: 'mine' });
  });

  test('CA-4 of fifty edits a second the last one is emitted, and nothing that was never written', async () => {
    const file = await write('holdfast.json', documentOf('edit-0'));
    using watch = new Watched([file]);
    await watch.next();
    const written = new Set(['edit-0']);
    for (let edit = 1; edit <= 50; edit += 1) {
      written.add(`edit-${String(edit)}`);
      await write('holdfast.json', documentOf(`edit-${String(edit)}`));
      if (edit % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await watch.untilCommand('edit-50');
    const seen = watch.emitted.map((config) => commandsOf(config)['docs'] ?? '');
    expect(seen.filter((command) => !written.has(command))).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
    expect(watch.warnings).toEqual([]);
  });
});

describe('files that are never quiet', () => {
  const neverQuiet = { debounceMs: 3_600_000, maxWaitMs: 20 };

  test('CA-4 a file that is written without end is taken over all the same, now and then', async () => {
    const file = await write('holdfast.json', documentOf('edit-0'));
    using watch = new Watched([file], neverQuiet);
    await watch.next();
    let edits = 0;
    while (watch.emitted.length < 4) {
      edits += 1;
      await write('holdfast.json', documentOf(`edit-${String(edits)}`));
    }
    await watch.untilCommand(`edit-${String(edits)}`);
    expect(watch.warnings).toEqual([]);
  });

  test('CA-4 the half of such a file is still none', async () => {
    const file = await write('holdfast.json', documentOf('one'));
    using watch = new Watched([file], { ...neverQuiet, graceMs: 3_600_000 });
    await watch.next();
    for (let edit = 0; edit < 20; edit += 1) await write('holdfast.json', documentOf('two').slice(0, 10 + edit));
    await write('holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ docs: 'two' });
    expect(watch.emitted).toHaveLength(2);
    expect(watch.warnings).toEqual([]);
  });
});

describe('editors', () => {
  test('CA-4 an editor that writes beside the file and renames gives one change each time', async () => {
    const file = await write('holdfast.json', documentOf('0'));
    using watch = new Watched([file]);
    await watch.next();
    for (const command of ['1', '2', '3', '4', '5']) {
      await write('.holdfast.json.swp', documentOf(command));
      await rename(join(directory, '.holdfast.json.swp'), file);
      expect(await watch.next()).toEqual({ docs: command });
    }
    expect(watch.emitted).toHaveLength(6);
    expect(watch.warnings).toEqual([]);
  });

  test('CA-4 an editor that moves the file away, writes it anew and removes the copy gives one change', async () => {
    const file = await write('holdfast.json', documentOf('one'));
    using watch = new Watched([file], { graceMs: 5_000 });
    await watch.next();
    await rename(file, `${file}~`);
    await write('holdfast.json', documentOf('two'));
    await unlink(`${file}~`);
    expect(await watch.next()).toEqual({ docs: 'two' });
    expect(watch.emitted).toHaveLength(2);
    expect(watch.warnings).toEqual([]);
  });

  test('CA-4 a file that is emptied, half-written and then whole is one change', async () => {
    const file = await write('holdfast.json', documentOf('one'));
    // The grace never ends in this test: time that does not move.
    const scheduler = new VirtualTimeScheduler();
    using still = new Watched([file], { scheduler });
    using watch = new Watched([file], { graceMs: 60_000 });
    await Promise.all([still.next(), watch.next()]);
    await write('holdfast.json', '');
    await write('holdfast.json', documentOf('two').slice(0, 20));
    await write('holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ docs: 'two' });
    expect(watch.emitted).toHaveLength(2);
    expect(watch.warnings).toEqual([]);
    expect(still.emitted).toHaveLength(1);
  });
});

describe('bad edits', () => {
  test('CA-4 a bad edit keeps the last good configuration, and is told once with its place', async () => {
    const file = await write('holdfast.json', documentOf('one'));
    using watch = new Watched([file]);
    await watch.next();
    await write('holdfast.json', '{\n  "mcpServers": { "docs": }\n}');
    const warning = await watch.nextWarning();
    expect(warning.code).toBe('config_syntax');
    expect(warning.message).toContain('line 2');
    expect(watch.emitted).toHaveLength(1);
    await write('holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ docs: 'two' });
    expect(watch.warnings).toHaveLength(1);
  });

  test('CA-4 a file that stays empty is told, and empties nothing', async () => {
    const file = await write('holdfast.json', documentOf('one'));
    using watch = new Watched([file]);
    await watch.next();
    await write('holdfast.json', '');
    expect((await watch.nextWarning()).message).toContain('got an empty file');
    expect(watch.emitted).toHaveLength(1);
    await write('holdfast.json', '{}');
    expect(await watch.next()).toEqual({});
  });

  test('CA-4 a file that was empty as it was read is one, whatever is in it right after', async () => {
    const hub = await write(
      'mcphub.json',
      `{ mcpServers: { hub: { command: 'h', env: { KEY: '\${cmd: print-key}' } } } }`,
    );
    const file = await write('b.json', '{"mcpServers":{"a":{"command":"first"}}}');
    let readings = 0;
    using watch = new Watched([hub, file], {
      // Runs between the reading of the files and the end of it.
      runCommand: async () => {
        readings += 1;
        if (readings > 1) await write('b.json', '{"mcpServers":{"a":{"command":"second"}}}');
        return 'key';
      },
    });
    expect(await watch.next()).toEqual({ hub: 'h', a: 'first' });
    await write('b.json', '');
    expect(await watch.next()).toEqual({ hub: 'h', a: 'second' });
    expect(watch.warnings).toEqual([]);
  });

  test('CA-4 a file that was empty from the beginning stands in nobody’s way', async () => {
    const empty = await write('.mcp.json', '');
    const file = await write('holdfast.json', documentOf('one'));
    using watch = new Watched([empty, file]);
    expect(await watch.next()).toEqual({ docs: 'one' });
    await write('holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ docs: 'two' });
  });
});

describe('files that come and go', () => {
  test('CA-4 a file that is removed is told, keeps the last good configuration, and is followed when it is back', async () => {
    const file = await write('holdfast.json', documentOf('one'));
    const other = await write('.mcp.json', JSON.stringify({ mcpServers: { other: { command: 'other' } } }));
    using watch = new Watched([other, file]);
    await watch.next();
    await unlink(file);
    expect((await watch.nextWarning()).code).toBe('config_invalid');
    expect(watch.emitted).toHaveLength(1);
    await write('holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ other: 'other', docs: 'two' });
    await write('holdfast.json', documentOf('three'));
    expect(await watch.next()).toEqual({ other: 'other', docs: 'three' });
  });

  test('CA-4 a directory that is removed and made anew is followed', async () => {
    await mkdir(join(directory, 'settings'));
    const file = await write('settings/holdfast.json', documentOf('one'));
    using watch = new Watched([file]);
    await watch.next();
    await rm(join(directory, 'settings'), { recursive: true });
    await watch.nextWarning();
    await mkdir(join(directory, 'settings'));
    await write('settings/holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ docs: 'two' });
    await write('settings/holdfast.json', documentOf('three'));
    expect(await watch.next()).toEqual({ docs: 'three' });
  });

  test('CA-4 a file that is not there yet is told, and read when it comes', async () => {
    using watch = new Watched([join(directory, 'later', 'holdfast.json')]);
    await watch.nextWarning();
    await mkdir(join(directory, 'later'));
    await write('later/holdfast.json', documentOf('one'));
    expect(await watch.next()).toEqual({ docs: 'one' });
  });
});

describe('links', () => {
  test('CA-4 an edit of the file behind a link is a change', async () => {
    await mkdir(join(directory, 'dotfiles'));
    await mkdir(join(directory, 'home'));
    await write('dotfiles/holdfast.json', documentOf('one'));
    const link = join(directory, 'home', 'holdfast.json');
    await symlink('../dotfiles/holdfast.json', link);
    using watch = new Watched([link]);
    expect(await watch.next()).toEqual({ docs: 'one' });
    await write('dotfiles/holdfast.json', documentOf('two'));
    expect(await watch.next()).toEqual({ docs: 'two' });
    await write('dotfiles/next.json', documentOf('three'));
    await symlink('../dotfiles/next.json', `${link}.new`);
    await rename(`${link}.new`, link);
    expect(await watch.next()).toEqual({ docs: 'three' });
    await write('dotfiles/next.json', documentOf('four'));
    expect(await watch.next()).toEqual({ docs: 'four' });
  });

  test('CA-4 a directory behind a link that moves, as mounted configuration does, is a change', async () => {
    await mkdir(join(directory, 'v1'));
    await mkdir(join(directory, 'v2'));
    await write('v1/holdfast.json', documentOf('one'));
    await write('v2/holdfast.json', documentOf('two'));
    await symlink('v1', join(directory, 'current'));
    await symlink('current/holdfast.json', join(directory, 'holdfast.json'));
    using watch = new Watched([join(directory, 'holdfast.json')]);
    expect(await watch.next()).toEqual({ docs: 'one' });
    await symlink('v2', join(directory, 'current.new'));
    await rename(join(directory, 'current.new'), join(directory, 'current'));
    expect(await watch.next()).toEqual({ docs: 'two' });
  });

  test('CA-4 links that go round in a circle are told, and a file in their place is read', async () => {
    const file = join(directory, 'holdfast.json');
    await symlink('round.json', file);
    await symlink('holdfast.json', join(directory, 'round.json'));
    using watch = new Watched([file]);
    expect((await watch.nextWarning()).message).toContain('ELOOP');
    await unlink(file);
    await write('holdfast.json', documentOf('one'));
    expect(await watch.next()).toEqual({ docs: 'one' });
  });
});

test('CA-4 H10 nothing is left when the last subscriber is gone, and nothing comes any more', async () => {
  const handles = () => process.getActiveResourcesInfo().filter((kind) => /FSEvent|StatWatcher|Timeout/.test(kind));
  const before = handles();
  const file = await write('holdfast.json', documentOf('one'));
  const watch = new Watched([file]);
  await watch.next();
  await write('holdfast.json', '{');
  await watch.nextWarning();
  watch[Symbol.dispose]();
  await write('holdfast.json', documentOf('two'));
  using other = new Watched([file]);
  expect(await other.next()).toEqual({ docs: 'two' });
  expect(watch.emitted).toHaveLength(1);
  other[Symbol.dispose]();
  expect(handles().filter((kind) => kind !== 'Timeout')).toEqual(before.filter((kind) => kind !== 'Timeout'));
  // Those of chokidar that thin out its events run out by themselves.
  while (handles().length > before.length) await new Promise((resolve) => setImmediate(resolve));
  expect(watch.emitted).toHaveLength(1);
});
