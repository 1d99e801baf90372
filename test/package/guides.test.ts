/** The programs of the guides are examples that CI runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const guides = readdirSync(new URL('docs/guides/', root)).filter((name) => name.endsWith('.md'));

test.each(guides)('the programs %s names are shown whole', (guide) => {
  const page = readFileSync(new URL(`docs/guides/${guide}`, root), 'utf8');
  const programs = [...page.matchAll(/<!-- (examples\/\S+) -->\s+```ts\n([\s\S]*?)```/g)];
  expect(programs.length).toBeGreaterThan(0);
  for (const [, path = '', shown] of programs) expect(shown).toBe(readFileSync(new URL(path, root), 'utf8'));
});
