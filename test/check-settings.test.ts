/** Policy and limits as callers give them: what is misspelt is refused, by name. */
import { createHost, createThread, HoldfastError } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { suggestion } from '../src/domain/nearest.ts';

function refusalOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof HoldfastError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

/** A value as a caller without types gives it. */
const given = (value: unknown): never => value as never;

const policies: readonly (readonly [unknown, string])[] = [
  ['x', 'invalid_argument: Expected policy to be an object, got "x".'],
  [null, 'invalid_argument: Expected policy to be an object, got null.'],
  [['prompt'], 'invalid_argument: Expected policy to be an object, got ["prompt"].'],
  [
    { aproval: 'prompt' },
    'invalid_argument: Expected a field of policy, got "policy.aproval". Did you mean "approval"?',
  ],
  [
    { elicitation: { autodeny: true } },
    'invalid_argument: Expected a field of policy.elicitation, got "policy.elicitation.autodeny". Did you mean "autoDeny"?',
  ],
  [
    { elicitation: { autoDeny: 'false' } },
    'invalid_argument: Expected policy.elicitation.autoDeny to be true or false, got "false".',
  ],
  [{ elicitation: null }, 'invalid_argument: Expected policy.elicitation to be an object, got null.'],
  [
    { elicitation: { unattendedMs: Number.NaN } },
    'invalid_argument: Expected policy.elicitation.unattendedMs to be whole milliseconds from 1 to 2147483647, got NaN.',
  ],
  [{ trust: 'docs' }, 'invalid_argument: Expected policy.trust to be a list of strings, got "docs".'],
  [{ servers: [] }, 'invalid_argument: Expected policy.servers to be an object, got [].'],
  [
    { servers: { docs: { approval: 'prompt' } } },
    'invalid_argument: Expected a field of policy.servers.docs, got "policy.servers.docs.approval". There are "elicitation".',
  ],
  [
    { servers: { docs: { elicitation: { url: false } } } },
    'invalid_argument: Expected a field of policy.servers.docs.elicitation, got "policy.servers.docs.elicitation.url". Did you mean "urls"?',
  ],
  [
    { approvalOverride: 'never' },
    'invalid_argument: Expected policy.approvalOverride to be one of "auto", "prompt", "approve", "writes", got "never".',
  ],
];

const limits: readonly (readonly [unknown, string])[] = [
  [5, 'invalid_argument: Expected limits to be an object, got 5.'],
  [null, 'invalid_argument: Expected limits to be an object, got null.'],
  [
    { callPerThread: 3 },
    'invalid_argument: Expected a field of limits, got "limits.callPerThread". Did you mean "callsPerThread"?',
  ],
  [
    { callsPerServer: '3' },
    'invalid_argument: Expected limits.callsPerServer to be a whole number from 1 to 2147483647, got "3".',
  ],
];

describe('policies', () => {
  test.each(policies)('CA-2 PO-1 a thread, a host and a change refuse %j', async (policy, message) => {
    expect(refusalOf(() => createThread({ policy: given(policy) }))).toBe(message);
    expect(refusalOf(() => createHost({ policy: given(policy) }))).toBe(message);
    await using thread = createThread();
    expect(
      refusalOf(() => {
        thread.setPolicy(given(policy));
      }),
    ).toBe(message);
  });

  test('CA-2 PO-1 every field of a policy is taken, and one that is undefined counts as absent', async () => {
    const elicitation = {
      autoDeny: false,
      acceptEmptyForms: true,
      forms: true,
      urls: true,
      approvals: true,
      unattendedMs: 5,
      reviewerTimeoutMs: 5,
    };
    await using thread = createThread({
      policy: {
        approval: 'prompt',
        approvalOverride: 'auto',
        elicitation,
        servers: { docs: { elicitation } },
        trust: ['docs'],
      },
    });
    expect(() => {
      thread.setPolicy(given({ approval: undefined, elicitation: { autoDeny: undefined } }));
      thread.setPolicy({});
    }).not.toThrow();
  });
});

describe('limits', () => {
  test.each(limits)('CA-2 a thread and a host refuse %j', async (wrong, message) => {
    expect(refusalOf(() => createThread({ limits: given(wrong) }))).toBe(message);
    expect(refusalOf(() => createHost({ limits: given(wrong) }))).toBe(message);
    await using host = createHost({ limits: { callsPerServer: 2 } });
    expect(refusalOf(() => host.createThread({ limits: given(wrong) }))).toBe(message);
  });
});

test('CA-2 a name nobody knows is answered with the closest one, or with all there are', () => {
  expect(suggestion('AUTODENY', ['autoDeny', 'urls'])).toBe('Did you mean "autoDeny"?');
  expect(suggestion('x'.repeat(100_000), ['autoDeny', 'urls'])).toBe('There are "autoDeny", "urls".');
  expect(suggestion('', ['approval'])).toBe('There are "approval".');
});
