/** DESIGN §4 as a table: which folder may import what. A new folder, or a new direction, is a decision made here. */
import { describe, expect, test } from 'vitest';
import { listFiles, readImports, readSource, resolveImport } from './source-files.ts';

interface Layer {
  /** Folders of `src` (all their files), or single files, that may be imported. A layer may always import itself. */
  readonly sources: readonly string[];
  /** Packages that may be imported, with their subpaths; a scope ends in `/`. */
  readonly packages: readonly string[];
  readonly node: boolean;
}

const entries = ['index.ts', 'machines/index.ts', 'mcp/index.ts', 'config/index.ts', 'inspector/index.ts'];

/** `root` is the files directly in `src`, but for `api.ts`, which is only types and may be used from below. */
const layers: Readonly<Record<string, Layer>> = {
  domain: { sources: [], packages: [], node: false },
  machines: { sources: ['domain'], packages: ['xstate'], node: false },
  'api.ts': { sources: ['domain'], packages: ['rxjs'], node: false },
  mcp: {
    sources: ['domain'],
    packages: ['@modelcontextprotocol/', '@napi-rs/keyring', 'undici', 'eventsource-parser', 'zod'],
    node: true,
  },
  actors: { sources: ['domain', 'machines', 'mcp', 'api.ts'], packages: ['xstate', 'rxjs'], node: true },
  catalog: { sources: ['domain', 'config', 'api.ts'], packages: ['rxjs'], node: true },
  config: {
    sources: ['domain', 'catalog/plugin-config.ts'],
    packages: ['chokidar', 'json5', 'jsonc-parser', 'rxjs', 'smol-toml', 'yaml', 'zod'],
    node: true,
  },
  'sdk-v1': { sources: ['domain'], packages: [], node: false },
  inspector: { sources: ['domain', 'api.ts'], packages: ['xstate', 'ws'], node: true },
  root: {
    sources: ['domain', 'machines', 'api.ts', 'mcp', 'actors', 'catalog', 'config', 'inspector'],
    packages: ['xstate', 'rxjs', 'zod'],
    node: true,
  },
  testing: {
    sources: ['domain', 'machines', 'api.ts', 'mcp', 'actors', 'root'],
    packages: ['xstate', 'rxjs', '@modelcontextprotocol/', 'zod'],
    node: true,
  },
  cli: {
    sources: [...entries, 'testing/index.ts'],
    packages: ['commander', '@clack/', 'jsonc-parser', 'rxjs', 'zod'],
    node: true,
  },
};

/** The layer a path below `src/` belongs to; `undefined` for a folder the table does not know. */
function layerOf(path: string): string | undefined {
  const [first = '', ...rest] = path.split('/');
  if (rest.length === 0) return first in layers ? first : 'root';
  return first in layers ? first : undefined;
}

function mayImport(layer: Layer, own: string, target: string): boolean {
  if (target.startsWith('node:')) return layer.node;
  if (!target.startsWith('src/')) {
    return layer.packages.some((name) =>
      name.endsWith('/') ? target.startsWith(name) : target === name || target.startsWith(`${name}/`),
    );
  }
  const path = target.slice('src/'.length);
  const to = layerOf(path);
  return to !== undefined && (to === own || layer.sources.includes(to) || layer.sources.includes(path));
}

/** What a file imports against the table, as sentences. */
function findViolations(file: string, source: string): readonly string[] {
  const own = layerOf(file.slice('src/'.length));
  const layer = own === undefined ? undefined : layers[own];
  if (own === undefined || layer === undefined) return [`${file} is in a folder the table does not name`];
  return readImports(source)
    .map((specifier) => resolveImport(file, specifier))
    .filter((target) => !mayImport(layer, own, target))
    .map((target) => `${file} (${own}) must not import ${target}`);
}

describe('the import directions', () => {
  test('every file of src imports only what its folder may', () => {
    expect(listFiles('src').flatMap((file) => findViolations(file, readSource(file)))).toEqual([]);
  });

  test('examples import public entries, packages and their own files only', () => {
    const violations = listFiles('examples').flatMap((file) =>
      readImports(readSource(file))
        .map((specifier) => resolveImport(file, specifier))
        .filter((target) => /^(?:src|test|bench|scripts|dist)\//.test(target) || target.startsWith('..'))
        .map((target) => `${file} must not import ${target}`),
    );
    expect(violations).toEqual([]);
  });

  test('the walk finds the source files and their imports', () => {
    expect(listFiles('src')).toContain('src/domain/errors.ts');
    expect(readImports(readSource('src/api.ts'))).toContain('./domain/snapshot.ts');
  });

  test.each([
    ['src/machines/step.ts', "import { Client } from '@modelcontextprotocol/client';"],
    ['src/machines/step.ts', "import { randomBytes } from 'node:crypto';"],
    ['src/machines/step.ts', "import {\n  a,\n  type B,\n} from '../actors/provide.ts';"],
    ['src/domain/json.ts', "export * from '../api.ts';"],
    ['src/domain/json.ts', "import 'rxjs';"],
    ['src/actors/client.ts', "export type { Client } from '@modelcontextprotocol/client';"],
    ['src/cli/shell.ts', "import { threadMachine } from '../machines/thread.ts';"],
    ['src/mcp/client.ts', "const { createThread } = await import('../index.ts');"],
    ['src/thread.ts', "import { parse } from '../bench/main.ts';"],
    ['src/elsewhere/file.ts', ''],
  ])('%s with %j is a violation', (file, source) => {
    expect(findViolations(file, source)).toHaveLength(1);
  });

  test.each([
    ['src/machines/step.ts', "import { assign } from 'xstate';\nimport type { Json } from '../domain/json.ts';"],
    [
      'src/cli/shell.ts',
      "import { createThread } from '../index.ts';\nimport { readConfig } from '../config/index.ts';",
    ],
    ['src/domain/json.ts', "/**\n * import { a } from 'rxjs';\n */\nexport const from = 'rxjs';"],
  ])('%s with %j is none', (file, source) => {
    expect(findViolations(file, source)).toEqual([]);
  });
});
