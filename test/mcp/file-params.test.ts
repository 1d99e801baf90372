/** Declared file parameters, as a model sees them and as a server gets them. */
import { describe, expect, test } from 'vitest';
import type { DeclaredFile, Json, JsonObject, ListedTool } from '../../src/index.ts';
import { withFileContent } from '../../src/mcp/file-content.ts';
import { fileParamsOf, withPaths } from '../../src/mcp/file-params.ts';
import { errorOf } from '../integration/elicitations/support.ts';

function tool(declared: Json | undefined, properties: JsonObject = { a: {}, b: {} }): ListedTool {
  const _meta = declared === undefined ? undefined : { 'openai/fileParams': declared };
  return { name: 't', inputSchema: { type: 'object', properties }, ...(_meta === undefined ? {} : { _meta }) };
}

describe('NM-6 which parameters are files', () => {
  test.each<readonly [string, Json | undefined, readonly string[]]>([
    ['the non-empty strings of a list, once each', ['b', '', 3, 'b', 'a'], ['b', 'a']],
    ['those the tool has', ['nowhere', '__proto__', 'a'], ['a']],
    ['literally: no path into a parameter', ['a.b', 'a/0'], []],
    ['a text is no list', 'a', []],
    ['an object is none', { 0: 'a' }, []],
    ['nothing declared', undefined, []],
  ])('%s', (_, declared, names) => {
    expect(fileParamsOf(tool(declared))).toEqual(names);
  });

  test('a tool without properties has none', () => {
    expect(fileParamsOf({ ...tool(['a']), inputSchema: { type: 'object' } })).toEqual([]);
  });
});

describe('NM-6 how they are shown', () => {
  const say = 'Give the path of a file; what is in it is sent in its place.';

  test.each<readonly [string, Json, JsonObject]>([
    ['an object is a path', { type: 'object', properties: {} }, { type: 'string', description: say }],
    ['its description stays', { description: 'The scan.' }, { type: 'string', description: `The scan. ${say}` }],
    [
      'what is said is not said twice',
      { description: `Scan. ${say}` },
      { type: 'string', description: `Scan. ${say}` },
    ],
    ['a schema that is no object is a path', true, { type: 'string', description: say }],
  ])('%s', (_, given, shown) => {
    const properties = { a: given, b: { type: 'number' } };
    const schema = { type: 'object', properties, required: ['a'] };
    expect(withPaths(schema, ['a'])).toEqual({ ...schema, properties: { a: shown, b: { type: 'number' } } });
  });

  test.each([{ type: 'array' }, { type: ['array', 'null'] }, { items: { type: 'object' } }])(
    '%j is a list of paths',
    (given) => {
      const schema = withPaths({ type: 'object', properties: { a: given } }, ['a']);
      expect(schema).toMatchObject({
        properties: { a: { type: 'array', items: { type: 'string' }, description: expect.any(String) as string } },
      });
    },
  );
});

describe('NM-6 how they are sent', () => {
  const asked: DeclaredFile[] = [];
  const call = {
    server: 'docs',
    tool: 't',
    files: ['a', 'b'],
    signal: new AbortController().signal,
    provide: (file: DeclaredFile): Promise<Json> => {
      asked.push(file);
      return Promise.resolve({ content: `of ${file.path}` });
    },
  };

  test('content goes in the place of each path, alone or in a list; the rest stays', async () => {
    const params = { name: 't', arguments: { a: '/x', b: ['/y', '/z'], c: 1 }, _meta: { d: 2 } };
    expect(await withFileContent(params, call)).toEqual({
      name: 't',
      arguments: { a: { content: 'of /x' }, b: [{ content: 'of /y' }, { content: 'of /z' }], c: 1 },
      _meta: { d: 2 },
    });
    expect(asked[1]).toEqual({ path: '/y', parameter: 'b', server: 'docs', tool: 't' });
    expect(params.arguments.a).toBe('/x');
  });

  test('parameters that are left out stay so', async () => {
    expect(await withFileContent({ name: 't', arguments: { a: null } }, call)).toEqual({
      name: 't',
      arguments: { a: null },
    });
    expect(await withFileContent({ name: 't' }, call)).toEqual({ name: 't' });
  });

  test.each<readonly [string, JsonObject, typeof call.provide]>([
    ['a number is no path', { a: 3 }, call.provide],
    ['an empty text is no path', { b: ['/x', ''] }, call.provide],
    ['too many', { b: Array.from({ length: 101 }, () => '/x') }, call.provide],
    ['the host gives nothing', { a: '/x' }, () => undefined as never],
    ['the host throws', { a: '/x' }, () => Promise.reject(new Error('no such file'))],
  ])('%s: the call is not sent, and the parameter is named', async (_, args, provide) => {
    const error = await errorOf(withFileContent({ name: 't', arguments: args }, { ...call, provide }));
    expect(error).toMatchObject({ code: 'invalid_arguments', outcome: 'not-sent', retryable: false });
    expect(error.issues).toMatchObject([{ path: `/${Object.keys(args).join('')}` }]);
  });
});
