/** The main job: a question outlives the runtime it was asked in, and its answer finds the call. */
import { describe, expect, test } from 'vitest';
import { scriptedServer } from '../../../src/testing/index.ts';
import { deferred } from '../../../src/testing/index.ts';
import { ada, answerOf, eras, place, places, textOf, watched } from './support.ts';

describe.each(places)('the seed scenario %s', (where) => {
  test.each(eras)(
    'RT-1 EL-2 H1 H3 H4 an answer given after a replacement completes the original call, in the %s era, and only then the old runtime stops',
    async (era) => {
      await using docs = await place(where, { era, name: 'before' });
      await using next = await place(where, { era, name: 'after' });
      // The environment that is still starting: its server shows up, and is not let in before its gate opens.
      const isReady = deferred();
      await using environment = scriptedServer({ era, name: 'remote' }, { gate: isReady.promise });
      await using watch = watched({ servers: { docs: docs.config }, limits: { startGraceMs: 60_000 } });
      const { thread } = watch;

      const step = await thread.beginStep();
      const result = step.callTool('mcp__docs__ask', {}, { callId: 'first' });
      const question = await watch.nextQuestion();
      expect(question).toMatchObject({
        kind: 'form',
        server: 'docs',
        attribution: 'call',
        step: step.id,
        request: 'first',
        generation: 1,
      });

      const publication = thread.replaceRuntime({ servers: { docs: next.config, remote: environment.config } });
      isReady.resolve();
      expect(await publication).toEqual({ status: 'published', generation: 2, replaced: 1 });
      const later = await thread.beginStep();
      expect(later.generation).toBe(2);
      expect(textOf(await later.callTool('mcp__remote__echo', { text: 'at once' }))).toBe('at once');
      expect(thread.snapshot().runtimes).toMatchObject([
        { generation: 1, state: 'retired', holders: [{ kind: 'step', id: step.id }] },
        { generation: 2, state: 'current' },
      ]);
      expect(thread.snapshot().elicitations).toEqual([question]);

      expect(await thread.respond(question.token, ada)).toEqual({ status: 'delivered' });
      expect(answerOf(await result)).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
      expect(watch.indexOf('runtime.stopped')).toBe(-1);
      await step.end();
      await watch.until('runtime.stopped', ({ generation }) => generation === 1);
      expect(watch.indexOf('call.ended', (event) => 'call' in event && event.call === question.call)).toBeLessThan(
        watch.indexOf('step.ended'),
      );
      expect(watch.indexOf('step.ended')).toBeLessThan(watch.indexOf('runtime.stopped'));
      expect(thread.snapshot().runtimes).toMatchObject([{ generation: 2, state: 'current' }]);
      await later.end();
    },
  );
});
