/** Which scenarios of the suite a client has to pass at which revision of the protocol. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { suiteFolder } from './referee.mjs';

/** The revisions that have a list of requirements, oldest first. */
export const revisions = ['2025-11-25', '2026-07-28'];

/**
 * Extensions the suite can test and that its lists of requirements do not name, by the revision they are run at.
 *
 * The lists name those of the revision they were frozen with; the skills extension came after.
 */
const extensions = {
  '2025-11-25': [],
  '2026-07-28': [
    'sep-2640-client-no-prefetch',
    'sep-2640-client-verify-digest',
    'sep-2640-client-verify-size',
    'sep-2640-client-verify-frontmatter',
  ],
};

/**
 * The scenarios for a client: those that are required, then those the suite runs without scoring them.
 *
 * @param {string} revision
 * @returns {string[]}
 */
export function scenariosOf(revision) {
  const { client, not_scored: notScored } = parse(readFileSync(`${suiteFolder}requirements/${revision}.yaml`, 'utf8'));
  const unscored = notScored.filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario);
  return [...new Set([...client, ...unscored, ...extensions[revision]])];
}
