/** Which scenarios of the suite a client has to pass at which revision of the protocol. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { suiteFolder } from './referee.mjs';

/** The revisions that have a list of requirements, oldest first. */
export const revisions = ['2025-11-25', '2026-07-28'];

/** Scenarios of an extension the suite can test, and that came after its lists of requirements. */
const skills = [
  'sep-2640-client-no-prefetch',
  'sep-2640-client-verify-digest',
  'sep-2640-client-verify-size',
  'sep-2640-client-verify-frontmatter',
];

/** What the suite has for revisions without a list: played when they are asked for. */
const olderRevisions = {
  '2025-03-26': ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'],
  '2025-06-18': [
    'initialize',
    'tools_call',
    'auth/token-endpoint-auth-basic',
    'auth/token-endpoint-auth-post',
    'auth/token-endpoint-auth-none',
  ],
};

/** Every revision there are scenarios for, oldest first. */
export const allRevisions = [...Object.keys(olderRevisions), ...revisions];

/**
 * The scenarios for a client: those that are required, then those the suite runs without scoring them.
 *
 * @param {string} revision
 * @returns {readonly string[]} Empty for a revision the suite does not have.
 */
export function scenariosOf(revision) {
  if (!revisions.includes(revision)) return olderRevisions[revision] ?? [];
  const { client, not_scored: notScored } = parse(readFileSync(`${suiteFolder}requirements/${revision}.yaml`, 'utf8'));
  const unscored = notScored.filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario);
  return [...new Set([...client, ...unscored, ...skills])];
}
