import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

test('the first program of the README is the example that CI runs, in at most 20 lines', () => {
  const example = read('examples/first-program/main.ts');
  const block = /<!-- examples\/first-program\/main\.ts -->\s+```ts\n([\s\S]*?)```/.exec(read('README.md'))?.[1];
  expect(block).toBe(example);
  expect(example.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
});

test('every link of the README and of ARCHITECTURE leads to a file', () => {
  const missing = ['README.md', 'ARCHITECTURE.md', 'docs/decisions/README.md'].flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]+)\)/g)].flatMap(([, link = '']) => {
      try {
        readFileSync(new URL(link, new URL(page, root)));
        return [];
      } catch {
        return [`${page} → ${link}`];
      }
    }),
  );
  expect(missing).toEqual([]);
});
