/** The survey's 25 files, each against what an importer should make of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { importConfig } from '../../src/config/index.ts';

const folder = fileURLToPath(new URL('../fixtures/config-cases/', import.meta.url));
const read = (file: string): string => readFileSync(folder + file, 'utf8');

const texts = z.record(z.string(), z.string());
const { cases } = z
  .object({
    cases: z.array(
      z.object({
        file: z.string(),
        format: z.string(),
        standsFor: z.string(),
        given: z.object({
          environment: texts,
          inputs: texts,
          workspaceFolder: z.string(),
          pluginRoot: z.string(),
          userHome: z.string(),
        }),
        expected: z.object({
          servers: z.array(z.looseObject({ name: z.string() })),
          diagnostics: z.array(z.object({ code: z.string(), server: z.string().optional() })),
        }),
      }),
    ),
  })
  .parse(JSON.parse(read('expected.json')));

describe('the 25 files of the survey', () => {
  test('CA-1 every file has its case', () => {
    expect(cases.map((each) => each.file)).toEqual(readdirSync(folder).filter((file) => file !== 'expected.json'));
  });

  test.each(cases)('CA-1 CA-2 CA-3 $file, as $standsFor, gives exactly what is expected', (each) => {
    const { environment: env, ...given } = each.given;
    const path = `/srv/sample/${each.standsFor.replace('plugin root ', '')}`;
    const imported = importConfig(read(each.file), { path, env, ...given });
    expect(imported.format).toBe(each.format);
    expect(imported.servers).toEqual(each.expected.servers);
    const said = imported.diagnostics.map(({ code, server }) => ({
      code,
      ...(server === undefined ? {} : { server }),
    }));
    expect(said).toEqual(expect.arrayContaining(each.expected.diagnostics));
    // The list is the least that must be said; where it is empty, nothing else than the transport may be.
    if (each.expected.diagnostics.length === 0)
      expect(said.filter(({ code }) => !['type-inferred', 'headers-helper'].includes(code))).toEqual([]);
  });

  test.each(cases)('CA-1 $file is recognised without its path', (each) => {
    const { environment: env, ...given } = each.given;
    const imported = importConfig(read(each.file), { path: `/somewhere/${each.file}`, env, ...given });
    expect(imported.servers).toEqual(each.expected.servers);
  });
});
