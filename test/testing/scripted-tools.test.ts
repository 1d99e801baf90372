/** Every tool, in both eras, however the server is served. */
import { describe, expect, test } from 'vitest';
import { deferred, scriptedToolNames } from '../../src/testing/index.ts';
import { ada, inMemory, overHttp, overStdio } from './peers.ts';

const carriers = { 'in memory': inMemory, 'over stdio': overStdio, 'over HTTP': overHttp };
const form = { type: 'object', properties: { age: { type: 'integer' } } };

for (const era of ['legacy', 'modern'] as const) {
  for (const [how, connect] of Object.entries(carriers)) {
    describe(`TK-1 a ${era} scripted server ${how}`, () => {
      const mode = era === 'legacy' ? 'legacy' : 'auto';

      test('speaks its era and lists every built-in tool with its hints', async () => {
        await using peer = await connect({ era, name: 'docs', instructions: 'Read me.' }, { mode });
        expect(peer.client.getProtocolEra()).toBe(era);
        expect(peer.client.getServerVersion()?.name).toBe('docs');
        expect(peer.client.getInstructions()).toBe('Read me.');
        const { tools } = await peer.client.listTools();
        expect(tools.map((tool) => tool.name)).toEqual([...scriptedToolNames]);
        expect(tools.find((tool) => tool.name === 'echo')?.annotations).toEqual({ readOnlyHint: true });
        expect(tools.find((tool) => tool.name === 'destructive')?.annotations?.destructiveHint).toBe(true);
        expect(tools.find((tool) => tool.name === 'idempotent')?.annotations?.idempotentHint).toBe(true);
      });

      test('returns, counts, fails, throws and lies as told', async () => {
        await using peer = await connect({ era }, { mode });
        expect(await peer.call('echo', { text: 'hi' })).toBe('hi');
        expect(await peer.call('readOnly')).toBe('read');
        expect(await peer.call('destructive')).toBe('destroyed');
        expect(await peer.call('slow', { ms: 1 })).toBe('slept 1 ms');
        expect(await peer.call('count', { tool: 'echo' })).toBe('1');
        expect(await peer.client.callTool({ name: 'fail', arguments: {} })).toMatchObject({ isError: true });
        await expect(peer.call('throwError', { code: -32_050, message: 'no', data: { why: 1 } })).rejects.toMatchObject(
          { code: -32_050, data: { why: 1 } },
        );
        await expect(peer.call('badResult')).rejects.toThrow('Invalid result');
        await expect(peer.call('missing')).rejects.toMatchObject({ code: -32_602 });
      });

      test('asks forms, one or several, in one or several rounds', async () => {
        await using peer = await connect({ era }, { mode });
        expect(JSON.parse(await peer.call('ask', { message: 'How old?', schema: form, meta: { a: 1 } }))).toEqual(ada);
        expect(peer.questions[0]).toMatchObject({
          mode: 'form',
          message: 'How old?',
          requestedSchema: form,
          _meta: { a: 1 },
        });
        expect(JSON.parse(await peer.call('ask', { rounds: 2, questions: 2, stateOnlyRounds: 2 }))).toEqual([
          ada,
          ada,
          ada,
          ada,
        ]);
        expect(JSON.parse(await peer.call('ask', { stateless: true }))).toEqual(ada);
      });

      test('asks for urls, completions and roots', async () => {
        await using peer = await connect({ era }, { mode, answer: () => ({ action: 'accept' }) });
        expect(JSON.parse(await peer.call('askUrl', { url: 'https://example.com/a' }))).toEqual({ action: 'accept' });
        expect(peer.questions[0]).toMatchObject({ mode: 'url', url: 'https://example.com/a' });
        expect(JSON.parse(await peer.call('sample'))).toMatchObject({ content: { text: 'hello' } });
        expect(JSON.parse(await peer.call('roots'))).toEqual({ roots: [{ uri: 'file:///work' }] });
      });

      test('keeps a call parked until another one releases it', async () => {
        await using peer = await connect({ era }, { mode });
        const parked = peer.call('park', { key: 'a' });
        await peer.call('awaitParked', { key: 'a' });
        await peer.call('release', { key: 'a', value: 'now' });
        expect(await parked).toBe('now');
        await peer.call('release', { key: 'early', value: { n: 1 } });
        expect(await peer.call('park', { key: 'early' })).toBe('{"n":1}');
      });

      test('reports progress to the call that asked for it', async () => {
        await using peer = await connect({ era }, { mode });
        const seen: number[] = [];
        const last = deferred();
        const onprogress = ({ progress }: { progress: number }): void => {
          seen.push(progress);
          if (progress === 3) last.resolve();
        };
        // Parked, because the SDK's client drops progress that comes in one chunk with the result.
        const call = peer.client.callTool({ name: 'progress', arguments: { steps: 3, key: 'p' } }, { onprogress });
        await last.promise;
        await peer.call('release', { key: 'p' });
        await call;
        expect(seen).toEqual([1, 2, 3]);
      });

      test('gives up a call its client aborted', async () => {
        await using peer = await connect({ era }, { mode });
        const abort = new AbortController();
        const parked = peer.client.callTool({ name: 'park', arguments: { key: 'b' } }, { signal: abort.signal });
        await peer.call('awaitParked', { key: 'b' });
        abort.abort('cancelled');
        await expect(parked).rejects.toThrow('cancelled');
        expect(await peer.call('echo', { text: 'alive' })).toBe('alive');
      });

      test('has a resource, prompts and completions', async () => {
        await using peer = await connect({ era }, { mode });
        const { resources } = await peer.client.listResources();
        expect(resources.map(({ uri }) => uri)).toEqual(['test://static']);
        expect((await peer.client.readResource({ uri: 'test://static' })).contents[0]).toMatchObject({
          text: 'static',
        });
        const read = peer.client.readResource({ uri: 'test://park/r' });
        await peer.call('awaitParked', { key: 'r' });
        await peer.call('release', { key: 'r' });
        expect((await read).contents[0]).toMatchObject({ text: 'released' });
        await expect(peer.client.readResource({ uri: 'test://none' })).rejects.toThrow('Unknown resource');
        expect((await peer.client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
        const prompt = await peer.client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
        expect(prompt.messages[0]?.content).toMatchObject({ text: 'Greet Ada.' });
        const completed = await peer.client.complete({
          ref: { type: 'ref/prompt', name: 'greet' },
          argument: { name: 'name', value: 'A' },
        });
        expect(completed.completion.values).toEqual(['Ada', 'Alan']);
      });
    });
  }
}
