/** Which scopes are asked for. */
import { describe, expect, test } from 'vitest';
import { chooseScope, withOfflineAccess } from '../../../src/mcp/auth/scopes.ts';

describe('scopes', () => {
  const all = { explicit: ['a'], configured: ['b'], challenged: 'c', supported: ['d'] };

  test.each([
    ['explicit ones first', all, { scope: 'a', isDiscovered: false }],
    ['then configured ones', { ...all, explicit: undefined }, { scope: 'b', isDiscovered: false }],
    ['an empty list asks for none', { ...all, explicit: undefined, configured: [] }, { isDiscovered: false }],
    ['then those of the challenge', { challenged: 'c', supported: ['d'] }, { scope: 'c', isDiscovered: true }],
    ['then those of the metadata', { supported: ['d', 'e'] }, { scope: 'd e', isDiscovered: true }],
    ['else none', {}, { isDiscovered: true }],
    ['a step up adds to what was there', { challenged: 'w', before: 'r' }, { scope: 'r w', isDiscovered: false }],
  ])('AU-1 %s', (_what, sources, chosen) => {
    expect(chooseScope(sources)).toEqual(chosen);
  });

  test('AU-1 ask for a refresh token where it has to be asked for', () => {
    const chosen = { scope: 'r', isDiscovered: true };
    expect(withOfflineAccess(chosen, ['offline_access'])).toEqual({ scope: 'r offline_access', isDiscovered: true });
    expect(withOfflineAccess(chosen, [])).toEqual(chosen);
    expect(withOfflineAccess({ isDiscovered: true }, ['offline_access'])).toEqual({ isDiscovered: true });
  });
});
