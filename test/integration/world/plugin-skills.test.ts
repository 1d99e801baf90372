/** Skills and connectors of plugins, which come and go with their environments. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandLauncher, createEnvironments, createThread, localLauncher } from '../../../src/index.ts';
import type { Clock, Launcher, SelectedRoot, Thread } from '../../../src/index.ts';
import { deferred, SimulatedClock } from '../../../src/testing/index.ts';
import { errorOf, turns, Watch } from '../runtimes/support.ts';
import { skillText } from './support.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-skills-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const launchers = [
  ['this machine', localLauncher],
  ['a command', commandLauncher({ prefix: ['env'] })],
] as const satisfies readonly (readonly [string, Launcher])[];

function write(path: string, text: string): void {
  const file = join(directory, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A plugin with three skills. */
function plugin(id = 'kit'): SelectedRoot {
  write(`${id}/SKILL.md`, skillText({ name: 'whole', description: 'The whole kit.' }));
  write(`${id}/skills/hammer/SKILL.md`, skillText({ name: 'hammer', description: 'Drives nails.' }));
  write(`${id}/skills/hammer/nails.md`, 'Many.');
  write(`${id}/skills/fine/saw/SKILL.md`, skillText({ name: 'saw', description: 'Cuts.' }));
  write(`${id}/.app.json`, JSON.stringify({ apps: { mail: { id: 'connector-1' }, bad: {} } }));
  return { plugin: { id, name: `The ${id}` }, environment: 'box', path: join(directory, id) };
}

/** A launcher that counts what it reads. */
function counting(launcher: Launcher, calls: string[] = []) {
  const counted: Launcher = {
    launch: (request) => launcher.launch(request),
    readFile: (path, options) => {
      calls.push(path);
      return launcher.readFile?.(path, options) ?? Promise.resolve(undefined);
    },
    findFiles: (path, options) => {
      calls.push(path);
      return launcher.findFiles?.(path, options) ?? Promise.resolve(undefined);
    },
  };
  return { launcher: counted, calls };
}

async function skillNames(thread: Thread): Promise<readonly string[]> {
  await using step = await thread.beginStep();
  return step.skills.map(({ name }) => name);
}

describe.each(launchers)('the skills of plugins, reached through %s', (_, launcher) => {
  test('WS-2 CA-7 are there while their environment is, with connectors, and are read once', async () => {
    const root = plugin();
    const environments = createEnvironments({ roots: [root] });
    const { launcher: counted, calls } = counting(launcher);
    await using thread = createThread({ environments });
    environments.starting('box');
    expect(await skillNames(thread)).toEqual([]);

    environments.ready('box', { handle: 'one', launcher: counted, cwd: '/work' });
    await using step = await thread.beginStep();
    expect(step.skills).toMatchObject([
      {
        id: 'plugin:kit@box/whole',
        name: 'whole',
        origin: { kind: 'environment', environment: 'box', plugin: 'kit' },
        integrity: 'none',
      },
      { id: 'plugin:kit@box/fine/saw', name: 'saw' },
      { id: 'plugin:kit@box/hammer', name: 'hammer', uri: join(root.path, 'skills/hammer/SKILL.md') },
    ]);
    expect(step.worldState).toMatchObject({
      environments: { local: { state: 'ready' }, box: { state: 'ready', cwd: '/work' } },
      plugins: { kit: { name: 'The kit', environment: 'box', connectors: { 'connector-1': 'mail' } } },
      skills: { 'plugin:kit@box/hammer': { from: 'plugin "kit" in environment "box"' } },
    });

    environments.failed('box', 'It burned down.');
    await using without = await thread.beginStep();
    expect(without.skills).toEqual([]);
    expect(without.worldStateChange).toEqual({
      environments: { box: { state: 'failed', reason: 'It burned down.', cwd: null } },
      plugins: { kit: { state: 'failed', connectors: null } },
      skills: null,
    });

    const before = calls.length;
    environments.ready('box', { handle: 'two', launcher: counted });
    await using again = await thread.beginStep();
    expect(again.skills).toEqual(step.skills);
    expect(calls).toHaveLength(before);
  });

  test('WS-2 files are read when they are asked for, from inside the skill only', async () => {
    const root = plugin();
    write('secret.md', 'Out of the plugin.');
    symlinkSync(join(directory, 'secret.md'), join(root.path, 'skills/hammer/link.md'));
    symlinkSync(directory, join(root.path, 'skills/hammer/up'));
    const environments = createEnvironments({ roots: [root] });
    environments.ready('box', { handle: 'one', launcher });
    await using thread = createThread({ environments });
    await using step = await thread.beginStep();
    const skill = step.skills.find(({ name }) => name === 'hammer');
    expect(await step.readSkill('hammer')).toEqual({
      skill,
      file: 'SKILL.md',
      text: skillText({ name: 'hammer', description: 'Drives nails.' }),
    });
    expect(await step.readSkill('hammer', { file: 'nails.md' })).toMatchObject({ text: 'Many.' });
    for (const file of ['../fine/saw/SKILL.md', '/etc/passwd', 'a/../../x', '.', 'none.md'])
      expect(await errorOf(step.readSkill('hammer', { file }))).toMatchObject({ code: 'invalid_result' });
    for (const file of ['link.md', 'up/secret.md']) {
      const error = await errorOf(step.readSkill('hammer', { file }));
      expect(error).toMatchObject({ code: 'invalid_result' });
      expect(error.message).toMatch(
        /^Expected "[^"]+" to be inside "[^"]+", and it leads out of it\. It was not read\.$/,
      );
    }
    write('kit/skills/hammer/SKILL.md', skillText({ name: 'axe', description: 'Drives nails.' }));
    expect(await errorOf(step.readSkill('hammer'))).toMatchObject({ code: 'invalid_result' });
  });

  test('WS-2 CA-7 one whose directory is not there is told once, a file that is not fit costs itself', async () => {
    const root = plugin();
    write('secret.json', '{}');
    rmSync(join(root.path, '.app.json'));
    symlinkSync(join(directory, 'secret.json'), join(root.path, '.app.json'));
    write('kit/skills/bad/SKILL.md', 'Nothing.');
    write('kit/.mcp.json', '{');
    const gone = { plugin: { id: 'gone', name: 'Gone' }, environment: 'box', path: join(directory, 'gone') };
    const environments = createEnvironments({ roots: [gone, root] });
    environments.ready('box', { handle: 'one', launcher });
    await using thread = createThread({ environments });
    const watch = new Watch(thread);
    expect(await skillNames(thread)).toEqual(['whole', 'saw', 'hammer']);
    environments.starting('box');
    environments.ready('box', { handle: 'one', launcher });
    expect(await skillNames(thread)).toEqual(['whole', 'saw', 'hammer']);
    await watch.until((fact) => fact.type === 'warning' && fact.message.includes('"kit" could not be read'));
    const told = watch.of('warning').map(({ code, message }) => `${code} ${message}`);
    expect(told.filter((text) => text.startsWith('plugin_invalid Plugin "gone"'))).toEqual([
      `plugin_invalid Plugin "gone": expected its directory "${gone.path}" in environment "box", and it is not there. It brings nothing.`,
    ]);
    expect(told).toContainEqual(expect.stringMatching(/^plugin_invalid Plugin "kit": .*leads out of it.*connectors/));
    expect(told).toContainEqual(expect.stringMatching(/^plugin_invalid Plugin "kit" could not be read/));
    expect(told.filter((text) => text.startsWith('skill_invalid Skill '))).toHaveLength(1);
    expect(told.filter((text) => text.startsWith('environment_failed'))).toEqual([]);
  });

  test('WS-2 CA-7 a file that is too large, none, or may not be read costs itself, and a warning', async () => {
    const root = plugin();
    write(
      'kit/skills/large/SKILL.md',
      `${skillText({ name: 'large', description: 'Large.' })}${'b'.repeat(11_000_000)}`,
    );
    write('kit/skills/shut/SKILL.md', skillText({ name: 'shut', description: 'Shut.' }));
    rmSync(join(root.path, '.app.json'));
    mkdirSync(join(root.path, '.app.json'));
    for (const place of [localLauncher, commandLauncher({ prefix: ['env'] })]) {
      const shutting: Launcher = {
        ...place,
        readFile: (path, options) =>
          path.includes('shut')
            ? Promise.reject(Object.assign(new Error('permission denied'), { code: 'EACCES' }))
            : (place.readFile?.(path, options) ?? Promise.resolve(undefined)),
      };
      const environments = createEnvironments({ roots: [root] });
      environments.ready('box', { handle: 'one', launcher: shutting });
      await using thread = createThread({ environments });
      const watch = new Watch(thread);
      while (!(await skillNames(thread)).includes('hammer')) await turns(1);
      expect(await skillNames(thread)).toEqual(['whole', 'saw', 'hammer']);
      const told = watch.of('warning').map(({ code, message }) => `${code} ${message}`);
      expect(told.toSorted()).toEqual([
        expect.stringMatching(
          /^plugin_invalid Plugin "kit": Expected "[^"]+\.app\.json" to be a file that can be read.*connectors/,
        ),
        expect.stringMatching(/^skill_invalid Skill "[^"]+large\/SKILL\.md".*at most 10485760 bytes/),
        expect.stringMatching(/^skill_invalid Skill "[^"]+shut\/SKILL\.md".*permission denied/),
      ]);
    }
  });

  test('WS-2 links are not followed to skills, neither a file nor a directory', async () => {
    const root = plugin();
    const out = skillText({ name: 'out', description: 'Elsewhere.' });
    write('elsewhere/SKILL.md', out);
    mkdirSync(join(root.path, 'skills/linked'));
    symlinkSync(join(directory, 'elsewhere/SKILL.md'), join(root.path, 'skills/linked/SKILL.md'));
    symlinkSync(join(directory, 'elsewhere'), join(root.path, 'skills/tied'));
    const linked = plugin('tied');
    rmSync(join(linked.path, 'skills'), { recursive: true });
    symlinkSync(join(directory, 'elsewhere'), join(linked.path, 'skills'));
    const reached = { ...root, plugin: { id: 'reached', name: 'Reached' }, path: join(directory, 'way') };
    symlinkSync(root.path, reached.path);
    const environments = createEnvironments({ roots: [root, linked, reached] });
    environments.ready('box', { handle: 'one', launcher });
    await using thread = createThread({ environments });
    const watch = new Watch(thread);
    await using step = await thread.beginStep();
    expect(step.skills.map(({ id }) => id)).toEqual([
      'plugin:kit@box/whole',
      'plugin:kit@box/fine/saw',
      'plugin:kit@box/hammer',
      'plugin:tied@box/whole',
      'plugin:reached@box/whole',
      'plugin:reached@box/fine/saw',
      'plugin:reached@box/hammer',
    ]);
    expect(await step.readSkill('plugin:reached@box/hammer')).toMatchObject({ file: 'SKILL.md' });
    expect(new Set(watch.of('warning').map(({ code }) => code))).toEqual(new Set(['skill_name_shared']));
  });

  test('WS-2 one bad SKILL.md costs itself and a warning, and a bad .app.json its connectors', async () => {
    const root = plugin();
    write('kit/skills/huge/SKILL.md', `---\nname: huge\n# ${'x'.repeat(200_000)}\n---\n`);
    write('kit/skills/prose/SKILL.md', 'No frontmatter.');
    write('kit/.app.json', '{');
    const environments = createEnvironments({ roots: [root] });
    environments.ready('box', { handle: 'one', launcher });
    await using thread = createThread({ environments });
    const watch = new Watch(thread);
    expect(await skillNames(thread)).toEqual(['whole', 'saw', 'hammer']);
    expect(watch.of('warning')).toHaveLength(3);
  });
});

describe('the skills of a plugin', () => {
  test('WS-2 no more than 512 of them are read of 10,000', async () => {
    const paths = Array.from({ length: 10_000 }, (_, index) => `/plugin/skills/s-${index}/SKILL.md`);
    const read: string[] = [];
    const launcher: Launcher = {
      launch: (request) => localLauncher.launch(request),
      readFile: (path) => {
        if (path.endsWith('/SKILL.md')) read.push(path);
        const name = /s-\d+/.exec(path)?.[0];
        return Promise.resolve(name === undefined ? undefined : skillText({ name, description: 'x'.repeat(900) }));
      },
      findFiles: (path, { limit }) => Promise.resolve(path.endsWith('/skills') ? paths.slice(0, limit) : undefined),
    };
    const root = { plugin: { id: 'many', name: 'Many' }, environment: 'box', path: '/plugin' };
    const environments = createEnvironments({ roots: [root] });
    environments.ready('box', { handle: 'one', launcher });
    await using thread = createThread({ environments });
    const watch = new Watch(thread);
    await using step = await thread.beginStep();
    expect(step.skills).toHaveLength(512);
    expect(read).toHaveLength(512);
    expect(JSON.stringify(step.worldState).length).toBeLessThan(20_000);
    expect(step.worldState['omitted']).toMatchObject({ skills: expect.any(Number) as unknown });
    expect(watch.of('warning')).toMatchObject([{ message: expect.stringContaining('at most 512') as unknown }]);
  });

  test('CA-7 WS-2 an environment that flaps a hundred times shows its skills when it is there and hides them when not', async () => {
    const environments = createEnvironments({ roots: [plugin()] });
    const { launcher, calls } = counting(localLauncher);
    await using thread = createThread({ environments });
    environments.ready('box', { handle: 'one', launcher });
    expect(await skillNames(thread)).toHaveLength(3);
    const read = calls.length;
    for (let flap = 0; flap < 100; flap += 1) {
      environments.failed('box', 'Its network is gone.');
      if (flap % 7 === 0) expect(await skillNames(thread)).toEqual([]);
      environments.ready('box', { handle: 'one', launcher });
      if (flap % 5 === 0) expect(await skillNames(thread)).toHaveLength(3);
    }
    expect(await skillNames(thread)).toHaveLength(3);
    expect(calls).toHaveLength(read);
  });

  test('WS-2 a step waits a second for skills that are being read for the first time, and no later one does', async () => {
    const clock = new SimulatedClock();
    const found = deferred<readonly string[]>();
    const launcher: Launcher = { ...localLauncher, findFiles: () => found.promise };
    const root = plugin();
    const environments = createEnvironments({ roots: [root] });
    environments.ready('box', { handle: 'one', launcher });
    await using thread = createThread({ environments, clock });
    await thread.ready();
    const step = thread.beginStep();
    let isThere = false;
    void step.then(() => {
      isThere = true;
    });
    await turns(20);
    expect(isThere).toBe(false);
    clock.increment(1_000);
    expect((await step).skills).toEqual([]);
    expect(await skillNames(thread)).toEqual([]);
    found.resolve([join(root.path, 'skills/hammer/SKILL.md')]);
    let names: readonly string[] = [];
    while (names.length === 0) {
      await turns(1);
      names = await skillNames(thread);
    }
    expect(names).toEqual(['hammer']);
  });

  test('WS-2 CA-7 what could not be read is read again when the environment is back, a plugin without skills is not', async () => {
    const root = plugin();
    let isBroken = true;
    const { launcher, calls } = counting({
      ...localLauncher,
      findFiles: (path, options) =>
        isBroken
          ? Promise.reject(new Error('The line is cut.'))
          : (localLauncher.findFiles?.(path, options) ?? Promise.resolve([])),
    });
    mkdirSync(join(directory, 'none'));
    const none = { plugin: { id: 'none', name: 'None' }, environment: 'box', path: join(directory, 'none') };
    const environments = createEnvironments({ roots: [root, none] });
    environments.ready('box', { handle: 'one', launcher });
    await using thread = createThread({ environments });
    const watch = new Watch(thread);
    expect(await skillNames(thread)).toEqual([]);
    expect(watch.of('warning')).toHaveLength(2);
    expect(watch.of('warning')[0]).toMatchObject({ code: 'environment_failed' });
    isBroken = false;
    environments.starting('box');
    environments.ready('box', { handle: 'one', launcher });
    expect(await skillNames(thread)).toEqual(['whole', 'saw', 'hammer']);
    const read = calls.length;
    environments.starting('box');
    environments.ready('box', { handle: 'one', launcher });
    expect(await skillNames(thread)).toEqual(['whole', 'saw', 'hammer']);
    expect(calls).toHaveLength(read);
  });

  test('WS-2 H10 a reading ends with its signal, its time, its step and its thread, even where nobody answers', async () => {
    const clock = new SimulatedClock();
    let isHung = false;
    const launcher: Launcher = {
      ...localLauncher,
      readFile: (path, options) =>
        isHung ? new Promise(() => undefined) : (localLauncher.readFile?.(path, options) ?? Promise.resolve(undefined)),
    };
    const environments = createEnvironments({ roots: [plugin()] });
    environments.ready('box', { handle: 'one', launcher });
    const skills = [{ name: 'slow', description: 'Never there.', text: () => new Promise<string>(() => undefined) }];
    await using thread = createThread({ environments, clock, extensions: [{ id: 'acme', skills }] });
    const step = await thread.beginStep();
    isHung = true;
    const stop = new AbortController();
    for (const name of ['hammer', 'slow']) {
      const aborted = errorOf(step.readSkill(name, { signal: stop.signal }));
      const late = errorOf(step.readSkill(name, { timeoutMs: 5 }));
      await turns(2);
      clock.increment(5);
      expect(await late).toMatchObject({ code: 'timeout' });
      stop.abort();
      expect(await aborted).toMatchObject({ code: 'aborted' });
      expect(await errorOf(step.readSkill(name, { signal: stop.signal }))).toMatchObject({ code: 'aborted' });
    }
    const ended = ['hammer', 'slow'].map((name) => errorOf(step.readSkill(name)));
    const other = await thread.beginStep();
    const closed = errorOf(other.readSkill('hammer'));
    await step.end();
    for (const error of await Promise.all(ended)) expect(error).toMatchObject({ code: 'aborted' });
    await thread.close();
    expect(await closed).toMatchObject({ code: 'aborted' });
  });

  test('H10 WS-2 a thread that closes while a step waits for skills leaves no timer behind', async () => {
    const real = globalThis.setTimeout;
    const timers = new Set<unknown>();
    const clock: Clock = {
      now: () => Date.now(),
      setTimeout: (callback, ms) => {
        const timer = real(callback, ms);
        timers.add(timer);
        return timer;
      },
      clearTimeout: (timer) => {
        timers.delete(timer);
        clearTimeout(timer as NodeJS.Timeout);
      },
    };
    const launcher: Launcher = { ...localLauncher, findFiles: () => new Promise(() => undefined) };
    const environments = createEnvironments({ roots: [plugin()] });
    environments.ready('box', { handle: 'one', launcher });
    const thread = createThread({ environments, clock });
    await thread.ready();
    const begun = errorOf(thread.beginStep());
    await turns(20);
    expect(timers.size).toBe(1);
    await thread.close();
    expect(timers.size).toBe(0);
    expect(await begun).toMatchObject({ code: 'thread_closed' });
  });
});
