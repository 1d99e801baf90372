/** The seed scenario in a real second place: a question is open while the place becomes ready, goes, and comes again. */
import { describe, expect, test } from 'vitest';
import { createEnvironments } from '../../../src/index.ts';
import type { SelectedRoot, ServerConfig } from '../../../src/index.ts';
import { stdioServerConfig } from '../../../src/testing/index.ts';
import { ada, answerOf, eras, place, textOf, turn, watched } from '../elicitations/support.ts';
import { isAlive } from '../processes/support.ts';
import { SecondPlace } from './second-place.ts';

function pluginIn(box: SecondPlace, servers: Readonly<Record<string, ServerConfig>>): SelectedRoot {
  box.write('docs/.mcp.json', JSON.stringify({ mcpServers: servers }));
  return { plugin: { id: 'docs', name: 'Docs' }, environment: 'box', path: box.path('docs') };
}

describe('the seed scenario in an environment', () => {
  test.each(eras)(
    'RT-1 CA-7 EL-2 H1 H3 H4 a question asked while an environment starts is answered after it is ready, in the %s era, and only then the old runtime stops',
    async (era) => {
      await using box = await SecondPlace.make();
      const root = pluginIn(box, { remote: stdioServerConfig({ era, tools: ['echo', 'pid'] }) });
      await using docs = await place('over stdio', { era, name: 'docs' });
      const environments = createEnvironments({ roots: [root] });
      environments.starting('box');
      await using watch = watched({
        servers: { docs: docs.config },
        environments,
        limits: { startGraceMs: 60_000 },
      });
      const { thread } = watch;

      const step = await thread.beginStep();
      const result = step.callTool('mcp__docs__ask', {}, { callId: 'first' });
      const question = await watch.nextQuestion();
      expect(question).toMatchObject({ server: 'docs', step: step.id, request: 'first', generation: 1 });
      expect(step.tools.some(({ server }) => server === 'remote')).toBe(false);

      environments.ready('box', { handle: box.handle, launcher: box.launcher });
      await watch.until('runtime.published', ({ generation }) => generation === 2);
      const later = await thread.beginStep();
      expect(later.generation).toBe(2);
      expect(later.tools.find(({ server }) => server === 'remote')).toMatchObject({
        environment: 'box',
        plugin: { id: 'docs', name: 'Docs' },
      });
      expect(textOf(await later.callTool('mcp__remote__echo', { text: 'from there' }))).toBe('from there');
      const pid = Number(textOf(await later.callTool('mcp__remote__pid', {})));
      expect([box.holds(pid), box.holds(process.pid)]).toEqual([true, false]);
      expect(thread.snapshot().elicitations).toEqual([question]);

      expect(await thread.respond(question.token, ada)).toEqual({ status: 'delivered' });
      expect(answerOf(await result)).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
      expect(watch.indexOf('runtime.stopped')).toBe(-1);
      await step.end();
      await watch.until('runtime.stopped', ({ generation }) => generation === 1);

      environments.failed('box', 'Its machine was stopped.');
      await watch.until('runtime.published', ({ generation }) => generation === 3);
      await using third = await thread.beginStep();
      expect(third.tools.some(({ server }) => server === 'remote')).toBe(false);
      expect(textOf(await later.callTool('mcp__remote__echo', { text: 'still pinned' }))).toBe('still pinned');
      await later.end();
      await watch.until('server.changed', ({ server, state }) => server === 'remote' && state === 'closed');
      expect(isAlive(pid)).toBe(false);
      expect(
        watch
          .of('server.changed')
          .filter(({ server }) => server === 'docs')
          .map(({ state }) => state),
      ).toEqual(['starting', 'ready']);
    },
  );

  test('CA-7 H10 RT-4 an environment that flaps drops no call elsewhere, keeps what it is at last, and leaves nothing', async () => {
    await using box = await SecondPlace.make();
    const root = pluginIn(box, { remote: stdioServerConfig({ tools: ['echo'] }) });
    const environments = createEnvironments({ roots: [root] });
    await using watch = watched({ servers: { docs: stdioServerConfig({ tools: ['echo'] }) }, environments });
    const { thread } = watch;
    await thread.ready();

    let isOver = false;
    const traffic = async (over: () => boolean): Promise<number> => {
      let calls = 0;
      for (; !over(); calls += 1) {
        await using step = await thread.beginStep();
        expect(textOf(await step.callTool('mcp__docs__echo', { text: 'here' }))).toBe('here');
      }
      return calls;
    };
    const calls = traffic(() => isOver);
    for (let flap = 0; flap < 40; flap += 1) {
      environments.ready('box', { handle: box.handle, launcher: box.launcher });
      // Some flaps are seen as one, some fall into a start.
      for (let turns = 0; turns < flap * 5; turns += 1) await turn();
      environments.failed('box', 'Its network is gone.');
      await turn();
    }
    environments.ready('box', { handle: box.handle, launcher: box.launcher });
    await watch.until('server.changed', ({ server, state }) => server === 'remote' && state === 'ready');
    isOver = true;
    expect(await calls).toBeGreaterThan(0);
    await thread.replaceRuntime({ servers: { docs: stdioServerConfig({ tools: ['echo'] }) } });
    await using step = await thread.beginStep();
    expect(textOf(await step.callTool('mcp__remote__echo', { text: 'there' }))).toBe('there');
    expect(watch.of('call.ended').filter(({ outcome }) => outcome !== 'completed')).toEqual([]);
    expect(
      watch
        .of('server.changed')
        .filter(({ server }) => server === 'docs')
        .map(({ state }) => state),
    ).toEqual(['starting', 'ready']);
    expect(watch.of('warning')).toEqual([]);
    await step.end();
    await thread.close();
    expect(box.processes()).toEqual([]);
  });
});
