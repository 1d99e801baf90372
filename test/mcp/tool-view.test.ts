import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolSettings } from '../../src/domain/config.ts';
import type { ListedTool } from '../../src/domain/tool.ts';
import { fingerprint } from '../../src/mcp/fingerprint.ts';
import type { ToolSource } from '../../src/mcp/tool-view.ts';
import { isModelVisible, isToolAllowed, toolView } from '../../src/mcp/tool-view.ts';

const options = { maxToolNameLength: 64 };

function listed(name: string, more: Partial<ListedTool> = {}): ListedTool {
  return { name, inputSchema: { type: 'object' }, ...more };
}

function source(server: string, tools: readonly ListedTool[], settings?: ToolSettings): ToolSource {
  return {
    server,
    tools,
    origin: 'stdio',
    config: { command: 'x', ...(settings === undefined ? {} : { tools: settings }) },
  };
}

function shown(sources: readonly ToolSource[]): readonly string[] {
  return toolView(sources, options).tools.map((tool) => tool.name);
}

describe('NM-5 what is shown', () => {
  test('NM-5 a tool carries its raw names, origin, fingerprint and everything its server listed', () => {
    const tool = listed('read.file', {
      title: 'Read',
      description: 'Reads',
      annotations: { readOnlyHint: true },
      outputSchema: {},
      _meta: { a: 1 },
    });
    const { tools, routes } = toolView([{ ...source('files', [tool]), origin: 'https://a.example' }], options);
    expect(tools).toEqual([
      {
        ...tool,
        name: 'mcp__files__read_file',
        server: 'files',
        tool: 'read.file',
        origin: 'https://a.example',
        environment: 'local',
        fingerprint: fingerprint(tool),
      },
    ]);
    expect(routes.get('mcp__files__read_file')).toEqual({
      server: 'files',
      tool: 'read.file',
      readOnly: true,
      idempotent: true,
      asTask: false,
      output: { server: 'files', tool: 'read.file', fingerprint: tools[0]?.fingerprint, schema: {} },
      info: tools[0],
    });
    expect(tool.name).toBe('read.file');
  });

  test('NM-5 a server does not say itself where its tools come from', () => {
    const claims = {
      plugin: { id: 'p' },
      connector: { id: 'c' },
      server: 'mail',
      origin: 'x',
      environment: 'y',
      fingerprint: 'z',
    };
    const tool: ListedTool = { ...listed('read'), ...claims };
    const provenance = { plugin: { id: 'mine', name: 'Mine' } };
    const [plain] = toolView([source('files', [tool])], options).tools;
    expect(plain).toEqual({
      ...listed('read'),
      name: 'mcp__files__read',
      server: 'files',
      tool: 'read',
      origin: 'stdio',
      environment: 'local',
      fingerprint: fingerprint(tool),
    });
    const [known] = toolView([{ ...source('files', [tool]), provenance }], options).tools;
    expect(known).toEqual({ ...plain, plugin: provenance.plugin });
  });

  test('NM-5 hints lead to routes only where they are true', () => {
    const { routes } = toolView(
      [
        source('s', [
          listed('a'),
          listed('b', { annotations: { idempotentHint: true } }),
          listed('c', { annotations: { readOnlyHint: false } }),
        ]),
      ],
      options,
    );
    expect([...routes.values()].map(({ readOnly, idempotent }) => [readOnly, idempotent])).toEqual([
      [false, false],
      [false, true],
      [false, false],
    ]);
  });

  test('NM-1 order is that of the servers and their lists, and a repeated raw name counts once', () => {
    expect(
      shown([
        source('b', [listed('z'), listed('a'), listed('z', { description: 'again' })]),
        source('a', [listed('z')]),
      ]),
    ).toEqual(['mcp__b__z', 'mcp__b__a', 'mcp__a__z']);
  });

  test('NM-5 what is shown cannot be changed', () => {
    const { tools } = toolView([source('s', [listed('a')])], options);
    expect(Object.isFrozen(tools) && tools.every((tool) => Object.isFrozen(tool))).toBe(true);
  });
});

describe('NM-2 filters', () => {
  test('NM-2 allow and deny go by raw name, and deny wins', () => {
    const tools = [listed('a.b'), listed('a_b'), listed('c'), listed('d')];
    const view = toolView([source('s', tools, { allow: ['a.b', 'c'], deny: ['c'] })], options);
    expect(view.tools.map((tool) => tool.tool)).toEqual(['a.b']);
    expect([...view.denied.values()]).toEqual([
      { server: 's', tool: 'a_b' },
      { server: 's', tool: 'c' },
      { server: 's', tool: 'd' },
    ]);
    expect(shown([source('s', tools, { deny: [] })])).toHaveLength(4);
    expect(shown([source('s', tools, { allow: [] })])).toEqual([]);
    expect(shown([source('s', tools, { allow: ['mcp__s__c'] })])).toEqual([]);
  });

  test('NM-2 a filter of one server says nothing about another', () => {
    expect(shown([source('a', [listed('x')], { deny: ['x'] }), source('b', [listed('x')])])).toEqual(['mcp__b__x']);
  });

  test('NM-2 a filter renames no tool', () => {
    const tools = [listed('a.b'), listed('a_b')];
    const all = shown([source('s', tools)]);
    expect(shown([source('s', tools, { deny: ['a.b'] })])).toEqual([all[1]]);
  });

  test.each<[unknown, boolean]>([
    [undefined, true],
    [{}, true],
    [{ visibility: 'app' }, true],
    [{ visibility: ['model'] }, true],
    [{ visibility: ['app', 'model'] }, true],
    [{ visibility: ['app'] }, false],
    [{ visibility: [] }, false],
    ['app', true],
    [null, true],
  ])('NM-2 _meta.ui of %j shows the tool: %s', (ui, visible) => {
    const tool: ListedTool = {
      ...listed('a'),
      _meta: JSON.parse(JSON.stringify({ ui })) as ListedTool['_meta'] & object,
    };
    expect(isModelVisible(tool)).toBe(visible);
    const view = toolView([source('s', [tool], { deny: ['other'] })], options);
    expect([view.tools.length, view.routes.size]).toEqual(visible ? [1, 1] : [0, 0]);
  });

  test('NM-2 a hidden tool is unknown even where it is denied', () => {
    const view = toolView(
      [source('s', [listed('a', { _meta: { ui: { visibility: ['app'] } } })], { deny: ['a'] })],
      options,
    );
    expect([view.routes.size, view.denied.size]).toEqual([0, 0]);
  });

  test('NM-2 the filter at call says the same as the one at listing', () => {
    const name = fc.constantFrom('a', 'b', 'c', '__proto__', '');
    const settings = fc.record({ allow: fc.array(name), deny: fc.array(name) }, { requiredKeys: [] });
    fc.assert(
      fc.property(settings, fc.uniqueArray(name), (filter, names) => {
        const view = toolView(
          [
            source(
              's',
              names.map((each) => listed(each)),
              filter,
            ),
          ],
          options,
        );
        expect(view.tools.map((tool) => tool.tool)).toEqual(names.filter((each) => isToolAllowed(filter, each)));
        expect(view.tools.length + view.denied.size).toBe(names.length);
      }),
    );
  });
});

describe('H1 the same inventories', () => {
  test('NM-1 give the same view, whatever else of the configuration changed', () => {
    const [a, b] = [[listed('x')], [listed('y')]];
    const settings = { deny: ['none'] };
    const view = toolView([source('a', a, settings), source('b', b)], options);
    expect(toolView([source('a', a, settings), source('b', b)], options)).toBe(view);
    expect(
      toolView(
        [{ ...source('a', a), config: { command: 'x', callTimeoutMs: 1, tools: settings } }, source('b', b)],
        options,
      ),
    ).toBe(view);
  });

  test('NM-1 give another view when a list, a filter, a name, an origin, the order or the limit is another', () => {
    const [a, b] = [[listed('x')], [listed('y')]];
    const first = [source('a', a), source('b', b)];
    const view = toolView(first, options);
    const others: readonly (readonly ToolSource[])[] = [
      [source('a', [...a]), source('b', b)],
      [source('a', a), source('b', [...b])],
      [source('a', a, { deny: ['x'] }), source('b', b)],
      [source('c', a), source('b', b)],
      [{ ...source('a', a), origin: 'given' }, source('b', b)],
      [source('b', b), source('a', a)],
      [source('a', a)],
    ];
    for (const sources of others) expect(toolView(sources, options)).not.toBe(view);
    expect(toolView(first, { maxToolNameLength: 32 })).not.toBe(view);
    expect(toolView(first, options)).toBe(view);
  });

  test('NM-1 no servers and no tools are an empty view', () => {
    expect(toolView([], options).tools).toEqual([]);
    expect(toolView([source('a', [])], options).routes.size).toBe(0);
  });
});
