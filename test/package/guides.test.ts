/** The programs of the guides are examples that CI runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const guides = readdirSync(new URL('docs/guides/', root)).filter((name) => name.endsWith('.md'));

/** What a guide shows as a file of the examples: its path in a comment, then the code. */
const programs = guides.flatMap((guide) => {
  const page = readFileSync(new URL(`docs/guides/${guide}`, root), 'utf8');
  return [...page.matchAll(/<!-- (examples\/\S+) -->\s+```\w+\n([\s\S]*?)```/g)].map(([, path = '', code]) => ({
    guide,
    path,
    code,
  }));
});

test.each(programs)('$guide shows $path whole', ({ path, code }) => {
  expect(code).toBe(readFileSync(new URL(path, root), 'utf8'));
});
