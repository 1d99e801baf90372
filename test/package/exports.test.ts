/** Pins what each entry exports. Types are pinned by the reports in `etc/`; here are the values, which users import by name. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readImports, readSource, root } from './source-files.ts';

const { exports: declared } = z
  .object({
    exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string(), default: z.string() })])),
  })
  .parse(JSON.parse(readSource('package.json')));

/** The names each entry exports as values. */
const pins: Readonly<Record<string, readonly string[]>> = {
  '.': [
    'HoldfastError',
    'approvalModes',
    'commandLauncher',
    'createApprovalMemory',
    'createCatalogBuilder',
    'createEnvironments',
    'createHost',
    'createThread',
    'defaults',
    'errorCodes',
    'httpTransports',
    'isAllowed',
    'localLauncher',
    'logLevels',
    'oauthGrants',
    'pluginAttributions',
    'protocolModes',
    'rememberChoices',
    'sourceKinds',
    'statusDetails',
    'toRuntimeServers',
    'withServers',
  ],
  './machines': [
    'backoffMs',
    'callMachine',
    'connectionMachine',
    'createFleet',
    'elicitationMachine',
    'fleetChildren',
    'healthyMs',
    'maxRounds',
    'outcomeOf',
    'routerMachine',
    'runtimeId',
    'runtimeMachine',
    'stepMachine',
    'stepSystemId',
    'taskMachine',
    'threadMachine',
  ],
  './mcp': [
    'boundResult',
    'connectorSignIn',
    'createKeptCredentials',
    'createMemoryCredentials',
    'createResultShelf',
    'createToolCache',
    'credentialsDirectory',
    'fingerprint',
    'forgetCredentials',
    'listPages',
    'listingLimits',
    'nameTools',
    'openLink',
    'signedInResult',
  ],
  './config': [
    'configFormatIds',
    'findConfig',
    'findUsualFiles',
    'importConfig',
    'importFiles',
    'parsePluginConfig',
    'parseServerMap',
    'readConfig',
    'readPlaces',
    'redactImport',
    'watchConfig',
  ],
  './inspector': ['createFrameRelay', 'createFrameServer', 'createInspectorBridge'],
  './sdk-v1': ['fromClient'],
  './testing': [
    'SimulatedClock',
    'actorSystem',
    'canonicalJson',
    'createThreadTestModel',
    'deferred',
    'describeViolation',
    'explore',
    'rawServer',
    'readJournal',
    'scriptedServer',
    'scriptedToolNames',
    'serveHttp',
    'stdioServerConfig',
    'threadTestEventTypes',
    'throwsNothing',
  ],
};

/** The source file behind an entry of `exports`. */
function sourceOf(subpath: string): string {
  return posix.join('src', subpath, 'index.ts');
}

describe('the entries', () => {
  test('package.json declares exactly the pinned ones, each at its folder', () => {
    const entries = Object.entries(declared).filter(([, target]) => typeof target !== 'string');
    expect(entries).toEqual(
      Object.keys(pins).map((subpath) => {
        const file = `./${posix.join('dist', subpath, 'index')}`;
        return [subpath, { types: `${file}.d.ts`, default: `${file}.js` }];
      }),
    );
  });

  test.each(Object.entries(pins))('%s exports the pinned names', async (subpath, names) => {
    const entry: unknown = await import(join(root, sourceOf(subpath)));
    expect(Object.keys(z.looseObject({}).parse(entry)).toSorted()).toEqual(names);
  });

  test.each(Object.keys(pins))('%s exports by name only', (subpath) => {
    expect(readSource(sourceOf(subpath))).not.toMatch(/export \*|export default/);
  });
});

describe('the declarations of the root entry', () => {
  let directory = '';

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-types-'));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--emitDeclarationOnly', '--declarationMap', 'false', '--outDir', directory];
    // Type errors are the type check's to report: declarations are written all the same.
    spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), ...options]);
  });

  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  /** Every declaration file that a user's compiler reads for `holdfast`, with what it imports from packages. */
  function readPackages(file: string, seen: Map<string, readonly string[]>): Map<string, readonly string[]> {
    if (seen.has(file)) return seen;
    const imports = readImports(readFileSync(join(directory, file), 'utf8'));
    seen.set(
      file,
      imports.filter((specifier) => !specifier.startsWith('.')),
    );
    for (const specifier of imports.filter((target) => target.startsWith('.'))) {
      readPackages(posix.join(posix.dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')), seen);
    }
    return seen;
  }

  test('show no type of XState or of the MCP SDK', () => {
    const packages = readPackages('index.d.ts', new Map());
    expect(packages.size).toBeGreaterThan(5);
    expect(new Set([...packages.values()].flat())).toEqual(new Set(['rxjs']));
  });
});
