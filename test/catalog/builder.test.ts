import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCatalogBuilder, serverIn, withServers } from '../../src/catalog/builder.ts';
import type { CatalogBuilder } from '../../src/catalog/builder.ts';
import { pluginAttributions } from '../../src/catalog/projection.ts';
import { sourceKinds } from '../../src/domain/catalog.ts';
import type { Catalog, CatalogAction, ServerSource } from '../../src/domain/catalog.ts';
import type { ServerConfig } from '../../src/domain/config.ts';

const config: ServerSource = { kind: 'config' };
const compatibility: ServerSource = { kind: 'compatibility', id: 'apps' };

function plugin(id: string, order = 0): ServerSource {
  return { kind: 'plugin', plugin: { id, name: id.toUpperCase() }, order };
}

function selected(id: string, order = 0): ServerSource {
  return { kind: 'selectedPlugin', plugin: { id, name: id.toUpperCase() }, order };
}

function extension(id: string, order = 0): ServerSource {
  return { kind: 'extension', id, order };
}

function run(command: string, more: { readonly enabled?: boolean } = {}): ServerConfig {
  return { command, ...more };
}

/** The command that won a name. */
function winner(catalog: Catalog, name = 'docs'): string | undefined {
  const server = serverIn(catalog, name);
  return server !== undefined && 'config' in server && 'command' in server.config ? server.config.command : undefined;
}

function register(...entries: readonly (readonly [ServerSource, string])[]): Catalog {
  const builder = createCatalogBuilder();
  for (const [source, command] of entries) builder.register({ name: 'docs', source, config: run(command) });
  return builder.build();
}

const failure = { code: 'server_misconfigured', message: 'No value for "KEY".', retryable: false } as const;

describe('CA-5 precedence', () => {
  const weakestFirst = [plugin('p'), selected('s'), config, compatibility, extension('e')];

  test.each(weakestFirst.slice(1).map((strong, index) => [weakestFirst[index] ?? config, strong] as const))(
    'CA-5 of $0.kind and $1.kind the second wins, in either order',
    (weak, strong) => {
      expect(winner(register([weak, 'weak'], [strong, 'strong']))).toBe('strong');
      expect(winner(register([strong, 'strong'], [weak, 'weak']))).toBe('strong');
    },
  );

  test('CA-5 the earlier plugin wins, and the earlier selected plugin', () => {
    expect(winner(register([plugin('a', 1), 'second'], [plugin('b', 0), 'first']))).toBe('first');
    expect(winner(register([selected('b', 0), 'first'], [selected('a', 1), 'second']))).toBe('first');
  });

  test('CA-5 the later extension wins', () => {
    expect(winner(register([extension('a', 1), 'second'], [extension('b', 0), 'first']))).toBe('second');
  });

  test('CA-5 what is equal is decided by the order of registration, never by an id', () => {
    for (const make of [plugin, selected, extension]) {
      expect(winner(register([make('a'), 'before'], [make('z'), 'after']))).toBe('after');
      expect(winner(register([make('z'), 'before'], [make('a'), 'after']))).toBe('after');
    }
    expect(winner(register([config, 'before'], [config, 'after']))).toBe('after');
  });

  test('CA-5 an order that is no number is refused', () => {
    expect(() => register([plugin('a', Number.NaN), 'x'])).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

test('CA-5 a configuration that is no object is refused by name', () => {
  const nothing = null as unknown as ServerConfig;
  expect(() => createCatalogBuilder().register({ name: 'docs', source: config, config: nothing })).toThrow(
    expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining('"docs"') as unknown }),
  );
});

describe('CA-5 removals', () => {
  test('CA-5 a removal that wins makes the name absent', () => {
    const catalog = createCatalogBuilder()
      .register({ name: 'docs', source: config, config: run('x') })
      .remove({ name: 'docs', source: extension('e') })
      .build();
    expect(catalog.servers).toEqual({});
    expect(catalog.conflicts).toEqual([]);
  });

  test('CA-5 a removal weaker than the registration does nothing', () => {
    const catalog = createCatalogBuilder()
      .register({ name: 'docs', source: extension('e'), config: run('x') })
      .remove({ name: 'docs', source: compatibility })
      .build();
    expect(winner(catalog)).toBe('x');
  });
});

describe('CA-5 what is off', () => {
  test('CA-5 a disabled winner stays, and no weaker one takes its place', () => {
    const catalog = createCatalogBuilder()
      .register({ name: 'docs', source: plugin('p'), config: run('weak') })
      .register({ name: 'docs', source: config, config: run('strong', { enabled: false }) })
      .build();
    expect(catalog.servers['docs']).toEqual({
      source: config,
      config: run('strong', { enabled: false }),
      disabled: { kind: 'configuration' },
    });
  });

  test('CA-5 a veto turns the winner off, whoever it is, and says why', () => {
    const catalog = createCatalogBuilder()
      .disable('docs', 'switched off in the settings')
      .register({ name: 'docs', source: config, config: run('x') })
      .register({ name: 'docs', source: extension('e'), config: run('y') })
      .build();
    expect(catalog.servers['docs']).toEqual({
      source: extension('e'),
      config: run('y', { enabled: false }),
      disabled: { kind: 'veto', reason: 'switched off in the settings' },
    });
  });

  test('CA-5 a misconfigured winner stays misconfigured, unless it is vetoed', () => {
    const builder = createCatalogBuilder()
      .register({ name: 'docs', source: plugin('p'), config: run('weak') })
      .register({ name: 'docs', source: config, failure });
    expect(builder.build().servers['docs']).toEqual({ source: config, failure });
    expect(builder.disable('docs').build().servers['docs']).toEqual({
      source: config,
      failure,
      disabled: { kind: 'veto' },
    });
  });

  test.each([
    ['a configured', config, true],
    ['a discovered plugin', plugin('p'), true],
    ['a selected plugin', selected('s'), false],
  ])('CA-5 %s winner that is off vetoes what is laid over it later: $2', (_, source, vetoes) => {
    const base = createCatalogBuilder()
      .register({ name: 'docs', source, config: run('x', { enabled: false }) })
      .build();
    const over = createCatalogBuilder(base)
      .register({ name: 'docs', source: extension('e'), config: run('y') })
      .build();
    expect(over.servers['docs']).toMatchObject({ config: { command: 'y' }, source: { kind: 'extension' } });
    expect(over.servers['docs']?.disabled).toEqual(vetoes ? { kind: 'configuration' } : undefined);
  });

  test('CA-5 a loser that is off vetoes nothing', () => {
    const base = createCatalogBuilder()
      .register({ name: 'docs', source: plugin('p'), config: run('x', { enabled: false }) })
      .register({ name: 'docs', source: config, config: run('y') })
      .build();
    expect(createCatalogBuilder(base).build().servers['docs']?.disabled).toBeUndefined();
  });
});

describe('CA-5 conflicts', () => {
  test('CA-5 two of one kind are reported weakest first, with what won in the end', () => {
    const catalog = createCatalogBuilder()
      .register({ name: 'docs', source: plugin('a', 0), config: run('a') })
      .register({ name: 'docs', source: plugin('b', 1), config: run('b') })
      .remove({ name: 'docs', source: extension('e') })
      .build();
    expect(catalog.conflicts).toEqual([
      {
        name: 'docs',
        outcome: { kind: 'remove', source: extension('e') },
        contenders: [
          { kind: 'register', source: plugin('b', 1) },
          { kind: 'register', source: plugin('a', 0) },
        ],
      },
    ]);
  });

  test('CA-5 what a stronger kind hides is no conflict', () => {
    expect(register([plugin('p'), 'x'], [config, 'y'], [extension('e'), 'z']).conflicts).toEqual([]);
  });
});

describe('CA-5 a resolved catalog', () => {
  test('CA-5 attributes its winners from plugins, and no others', () => {
    const catalog = createCatalogBuilder()
      .registerAll(plugin('p'), { servers: { mine: run('a'), shadowed: run('b') } })
      .registerAll(config, { servers: { shadowed: run('c') } })
      .build();
    expect(pluginAttributions(catalog)).toEqual({ mine: { id: 'p', name: 'P' } });
  });

  test('CA-5 with other servers, known names keep their source and new ones count as configured', () => {
    const base = createCatalogBuilder()
      .require({ source: 'Example Inc.', allow: [{ command: 'a' }] })
      .register({ name: 'known', source: selected('s', 7), connector: { id: 'c' }, config: run('a') })
      .register({ name: 'gone', source: config, config: run('a') })
      .build();
    const next = withServers(base, { known: run('a', { enabled: false }), fresh: run('other') });
    expect(next.servers).toEqual({
      known: {
        source: selected('s', 7),
        connector: { id: 'c' },
        config: run('a', { enabled: false }),
        disabled: { kind: 'configuration' },
      },
      fresh: {
        source: config,
        config: run('other', { enabled: false }),
        disabled: { kind: 'requirements', source: 'Example Inc.' },
      },
    });
  });

  test('CA-5 takes names that objects have of their own', () => {
    const names = ['__proto__', 'constructor', 'toString', ''];
    const builder = createCatalogBuilder();
    for (const name of names) builder.register({ name, source: config, config: run(`run ${name}`) });
    const catalog = createCatalogBuilder(builder.build()).build();
    expect(Object.keys(catalog.servers)).toEqual(names);
    expect(winner(catalog, '__proto__')).toBe('run __proto__');
    expect(serverIn(catalog, 'valueOf')).toBeUndefined();
  });

  test('CA-5 of a thousand names a thousand are there, and secrets once', () => {
    const servers = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`s${String(n)}`, run(String(n))]));
    const catalog = createCatalogBuilder()
      .registerAll(config, { servers, secrets: ['one-secret', 'one-secret'] })
      .build();
    expect(Object.keys(catalog.servers)).toHaveLength(1_000);
    expect(catalog.secrets).toEqual(['one-secret']);
  });
});

const names = fc.constantFrom('a', 'b', '__proto__');
const orders = fc.integer({ min: 0, max: 3 });
const ids = fc.constantFrom('x', 'y');
const sources: fc.Arbitrary<ServerSource> = fc.oneof(
  fc.tuple(ids, orders).map(([id, order]) => plugin(id, order)),
  fc.tuple(ids, orders).map(([id, order]) => selected(id, order)),
  fc.constant(config),
  ids.map((id): ServerSource => ({ kind: 'compatibility', id })),
  fc.tuple(ids, orders).map(([id, order]) => extension(id, order)),
);
const actions: fc.Arbitrary<CatalogAction> = fc.oneof(
  fc.tuple(names, sources, fc.string(), fc.boolean()).map(([name, source, command, enabled]): CatalogAction => ({
    kind: 'register',
    registration: { name, source, config: run(command, { enabled }) },
  })),
  fc.tuple(names, sources).map(([name, source]): CatalogAction => ({ kind: 'remove', removal: { name, source } })),
);

function build(list: readonly CatalogAction[], base?: Catalog): Catalog {
  const builder = createCatalogBuilder(base);
  for (const action of list) {
    if (action.kind === 'register') builder.register(action.registration);
    else builder.remove(action.removal);
  }
  return builder.build();
}

describe('CA-5 for any registrations', () => {
  test('CA-5 resolution is plain data, and a builder over it builds the same', () => {
    fc.assert(
      fc.property(fc.array(actions), (list) => {
        const catalog = build(list);
        expect(JSON.parse(JSON.stringify(catalog))).toEqual(catalog);
        expect(Object.keys(build([], catalog).servers)).toEqual(Object.keys(catalog.servers));
        expect(build([], catalog).conflicts).toEqual(catalog.conflicts);
      }),
    );
  });

  test('CA-5 no action of a weaker kind changes who wins a name', () => {
    fc.assert(
      fc.property(fc.array(actions), sources, fc.string(), (list, source, command) => {
        const before = build(list);
        const after = build([...list, { kind: 'register', registration: { name: 'a', source, config: run(command) } }]);
        const strongest = before.servers['a']?.source;
        if (strongest === undefined || sourceKinds.indexOf(strongest.kind) <= sourceKinds.indexOf(source.kind)) return;
        expect(after.servers['a']).toEqual(before.servers['a']);
      }),
    );
  });

  test('CA-5 registrations of different kinds may come in any order', () => {
    const byKind = fc.uniqueArray(actions, {
      selector: (action) =>
        (action.kind === 'register' ? action.registration : action.removal).name +
        (action.kind === 'register' ? action.registration : action.removal).source.kind,
    });
    fc.assert(
      fc.property(byKind, (list) => {
        expect(build(list.toReversed()).servers).toEqual(build(list).servers);
      }),
    );
  });
});

describe('CA-5 bad input', () => {
  const named = { name: 'docs', source: config };

  test.each<readonly [string, (builder: CatalogBuilder) => unknown, RegExp]>([
    ['nothing to register', (builder) => builder.register({} as never), /the name of a server, got nothing/],
    ['no registration', (builder) => builder.register(undefined as never), /\{ name, source, … \}, got nothing/],
    ['no configuration', (builder) => builder.register(named as never), /server "docs" to be an object, got nothing/],
    [
      'a source that is none',
      (builder) => builder.register({ ...named, source: { kind: 'foo' }, config: run('x') } as never),
      /the kind of a source \("plugin", .*\), got "foo"/,
    ],
    [
      'a plugin without its plugin',
      (builder) => builder.register({ ...named, source: { kind: 'plugin', order: 0 }, config: run('x') } as never),
      /the plugin of a source as \{ id, name \}, got nothing/,
    ],
    [
      'an extension without its id',
      (builder) => builder.remove({ name: 'docs', source: { kind: 'extension', order: 0 } } as never),
      /the id of a source, got nothing/,
    ],
    ['nothing to remove', (builder) => builder.remove(undefined as never), /Expected .*, got nothing/],
    [
      'no source to remove',
      (builder) => builder.remove({ name: 'docs' } as never),
      /a source, such as .*, got nothing/,
    ],
    ['no set', (builder) => builder.registerAll(config, undefined as never), /\{ servers, … \}.*, got nothing/],
    ['a set without servers', (builder) => builder.registerAll(config, {} as never), /"servers" to be an object/],
    ['no name to turn off', (builder) => builder.disable(undefined as never), /the name of a server, got nothing/],
    ['no requirement', (builder) => builder.require(undefined as never), /\{ source, allow \}, got nothing/],
    ['a requirement without rules', (builder) => builder.require({ source: 'Acme' } as never), /"Acme" to list rules/],
  ])('CA-5 %s is refused, and nothing is noted', (_what, say, message) => {
    const builder = createCatalogBuilder();
    expect(() => say(builder)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringMatching(message) as string }) as Error,
    );
    expect(builder.build()).toMatchObject({ actions: [], vetoes: {}, requirements: [] });
  });

  test.each<readonly [string, unknown]>([
    ['to be an object', 'npx'],
    ['to have either a "command" or a "url"', {}],
    ['to have either a "command" or a "url"', { command: 'npx', url: 'https://a.example' }],
    ['to have a "command" that is a text', { command: 5 }],
    ['to have "args" that are a list, or none', { command: 'npx', args: '-y' }],
    ['to have a "args" that is a text, { exact }, { prefix } or { pattern }', { command: 'npx', args: [5] }],
    ['to have a "url" that is a text, { exact }, { prefix } or { pattern }', { url: { pattern: 5 } }],
    ['to have a "url" whose pattern is a regular expression', { url: { pattern: '(' } }],
    ['to have a "name" that is a text, or none', { name: 5, command: 'npx' }],
  ])('CA-8 a rule is expected %s, and named: %j', (problem, rule) => {
    const allow = [{ command: 'npx' }, rule] as never;
    expect(() => createCatalogBuilder().require({ source: 'Acme', allow })).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: expect.stringContaining(`Expected rule 1 of "Acme" ${problem}`) as string,
      }) as Error,
    );
  });
});
