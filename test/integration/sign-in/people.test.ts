/** Who reads what: private results are for the credentials they came with (SPEC RE-2). */
import { describe, expect, test } from 'vitest';
import { createHost } from '../../../src/index.ts';
import type { Thread } from '../../../src/index.ts';
import { createMemoryCredentials } from '../../../src/mcp/index.ts';
import { deferred } from '../../../src/testing/index.ts';
import { turns } from '../runtimes/support.ts';
import { alwaysSignsIn, comeBack, handMade } from './hand-made.ts';
import type { HandMade, HandMadeOptions } from './hand-made.ts';
import { nextQuestion } from './support.ts';

const uri = 'notes://me';

function diary(scope: 'private' | 'public', authorization: string): unknown {
  const contents = [{ uri, text: `diary of ${authorization}` }];
  return { resultType: 'complete', contents, ttlMs: 3_600_000, cacheScope: scope };
}

/** A server whose authorization server lets the people in one after the other. */
async function peopleServer(
  people: string[],
  more: Partial<HandMadeOptions> = {},
  scope: 'private' | 'public' = 'private',
): Promise<HandMade> {
  return handMade({
    token: () => ({ body: { access_token: `token-of-${people.shift() ?? 'nobody'}`, token_type: 'Bearer' } }),
    result: (method, authorization) => (method === 'resources/read' ? diary(scope, authorization) : undefined),
    ...more,
  });
}

/** Reads, and waits until what keeps results has it. */
async function read(thread: Thread): Promise<string> {
  const { contents } = await thread.readResource('notes', uri);
  await import('../../../src/actors/result-store.ts');
  await turns(2);
  return JSON.stringify(contents);
}

describe('private results', () => {
  test('RE-2 are not read by who signs in next', async () => {
    await using it = await peopleServer(['alice', 'bob']);
    const { thread } = it.thread();
    alwaysSignsIn(thread);
    await thread.authorize('notes');
    expect(await read(thread)).toContain('token-of-alice');
    expect(await read(thread)).toContain('token-of-alice');
    await thread.authorize('notes', { anew: true });
    expect(await read(thread)).toContain('token-of-bob');
  });

  test('RE-2 are not kept when they come after somebody else signed in', async () => {
    const asked = deferred<undefined>();
    const answer = deferred<undefined>();
    let isSlow = true;
    await using it = await peopleServer(['alice', 'bob'], {
      slow: async (method) => {
        if (method !== 'resources/read' || !isSlow) return;
        isSlow = false;
        asked.resolve(undefined);
        await answer.promise;
      },
    });
    const { thread } = it.thread();
    alwaysSignsIn(thread);
    await thread.authorize('notes');
    const late = read(thread);
    await asked.promise;
    await thread.authorize('notes', { anew: true });
    answer.resolve(undefined);
    expect(await late).toContain('token-of-alice');
    expect(await read(thread)).toContain('token-of-bob');
  });

  test('RE-2 are not read with the headers a helper gave after a refusal', async () => {
    let taken = 'Bearer helper-token-0';
    let renewals = 0;
    await using it = await peopleServer([], { takes: (authorization) => authorization === taken });
    const { thread } = it.thread({
      config: {
        headers: { authorization: taken },
        renewHeaders: () => {
          renewals += 1;
          return Promise.resolve({ authorization: `Bearer helper-token-${String(renewals)}` });
        },
      },
    });
    await using step = await thread.beginStep();
    expect(await read(thread)).toContain('helper-token-0');
    taken = 'Bearer helper-token-1';
    await step.callTool('mcp__notes__echo');
    expect(await read(thread)).toContain('helper-token-1');
  });

  test('RE-2 stay when the token of the same sign-in is renewed', async () => {
    let tokens = 0;
    let reads = 0;
    let refused = '';
    await using it = await handMade({
      token: () => {
        tokens += 1;
        const access_token = `token-number-${String(tokens)}`;
        return { body: { access_token, token_type: 'Bearer', refresh_token: 'a refresh token' } };
      },
      takes: (authorization) => authorization !== refused,
      result: (method, authorization) => {
        if (method !== 'resources/read') return undefined;
        reads += 1;
        return diary('private', authorization);
      },
    });
    const { thread } = it.thread();
    alwaysSignsIn(thread);
    await thread.authorize('notes');
    await using step = await thread.beginStep();
    await read(thread);
    refused = 'Bearer token-number-1';
    await step.callTool('mcp__notes__echo');
    expect(tokens).toBe(2);
    await read(thread);
    expect(reads).toBe(1);
  });

  test('RE-2 public ones are for who signs in next, too', async () => {
    await using it = await peopleServer(['alice', 'bob'], {}, 'public');
    const { thread } = it.thread();
    alwaysSignsIn(thread);
    await thread.authorize('notes');
    await read(thread);
    await thread.authorize('notes', { anew: true });
    expect(await read(thread)).toContain('token-of-alice');
  });
});

describe('two threads of a host', () => {
  test('AU-3 a sign-in of one settles the question of the other, and its server comes up', async () => {
    await using it = await peopleServer(['alice']);
    const host = createHost({ authorization: { credentials: createMemoryCredentials() } });
    const make = host.createThread.bind(host);
    const first = it.thread({ make }).thread;
    const second = it.thread({ make }).thread;
    await Promise.all([first.ready(), second.ready()]);
    const waiting = second.authorize('notes');
    await nextQuestion(second);
    const signedIn = first.authorize('notes');
    await comeBack((await nextQuestion(first)).url);
    await Promise.all([signedIn, waiting]);
    expect(second.snapshot()).toMatchObject({ elicitations: [], servers: [{ state: 'ready', auth: 'oauth' }] });
    expect(it.grants).toHaveLength(1);
  });
});
