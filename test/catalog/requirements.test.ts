import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCatalogBuilder } from '../../src/catalog/builder.ts';
import { identityOfServer, isAllowed } from '../../src/catalog/requirements.ts';
import type { ServerRule } from '../../src/domain/catalog.ts';
import type { ServerConfig } from '../../src/domain/config.ts';

function allowed(rule: ServerRule, config: ServerConfig, name = 'docs'): boolean {
  return isAllowed(name, config, [{ source: 'test', allow: [rule] }]);
}

function cli(...args: readonly string[]): ServerConfig {
  return { command: 'company-cli', args };
}

describe('CA-8 by command', () => {
  test('CA-8 the exact command with any arguments', () => {
    expect(allowed({ command: 'company-cli' }, cli('mcp', '--verbose'))).toBe(true);
    expect(allowed({ command: 'company-cli' }, { command: '/usr/local/bin/company-cli' })).toBe(false);
    expect(allowed({ command: 'company-cli' }, { url: 'https://company-cli' })).toBe(false);
  });

  test('CA-8 arguments in their places, none more and none less', () => {
    const rule = { command: 'company-cli', args: ['mcp', { pattern: 'https://[a-z]+\\.example\\.com' }] };
    expect(allowed(rule, cli('mcp', 'https://pricing.example.com'))).toBe(true);
    expect(allowed(rule, cli('https://pricing.example.com', 'mcp'))).toBe(false);
    expect(allowed(rule, cli('mcp', 'https://pricing.example.com', '--verbose'))).toBe(false);
    expect(allowed(rule, cli('mcp'))).toBe(false);
    expect(allowed({ command: 'company-cli', args: [] }, { command: 'company-cli' })).toBe(true);
  });

  test('CA-8 an argument by its beginning', () => {
    const rule = { command: 'company-cli', args: [{ prefix: '--root=/srv/' }] };
    expect(allowed(rule, cli('--root=/srv/data'))).toBe(true);
    expect(allowed(rule, cli('--root=/etc'))).toBe(false);
  });

  test('CA-8 a rule with a name is for that server only', () => {
    expect(allowed({ name: 'docs', command: 'company-cli' }, cli())).toBe(true);
    expect(allowed({ name: 'docs', command: 'company-cli' }, cli(), 'other')).toBe(false);
  });
});

describe('CA-8 by url', () => {
  test.each([
    ['https://mcp.example.com/a', true],
    ['https://MCP.example.com:443/a', true],
    ['https://mcp.example.com/a/', false],
    ['https://mcp.example.com/a?b', false],
    ['http://mcp.example.com/a', false],
    ['no url', false],
  ])('CA-8 exact: %s is allowed: %s', (url, is) => {
    expect(allowed({ url: 'https://mcp.example.com/a' }, { url })).toBe(is);
    expect(allowed({ url: { exact: 'https://mcp.example.com/a' } }, { url })).toBe(is);
  });

  test.each([
    ['https://mcp.example.com', true],
    ['https://mcp.example.com/a?b=c', true],
    ['https://mcp.example.com.evil.example/a', false],
    ['https://mcp.example.com@evil.example/a', false],
    ['https://mcp.example.com:8443/a', false],
  ])('CA-8 prefix of an origin: %s is allowed: %s', (url, is) => {
    expect(allowed({ url: { prefix: 'https://mcp.example.com' } }, { url })).toBe(is);
  });

  test('CA-8 a prefix with a path is not left by dots', () => {
    const rule = { url: { prefix: 'https://mcp.example.com/team/' } };
    expect(allowed(rule, { url: 'https://mcp.example.com/team/mcp' })).toBe(true);
    expect(allowed(rule, { url: 'https://mcp.example.com/team/../admin' })).toBe(false);
    expect(allowed(rule, { url: 'https://mcp.example.com/team/%2e%2e/admin' })).toBe(false);
  });

  test('CA-8 a pattern matches the whole url, and a later alternative may', () => {
    const rule = { url: { pattern: 'https://api\\.example\\.com|https://api\\.example\\.com/mcp' } };
    expect(allowed(rule, { url: 'https://api.example.com/mcp' })).toBe(true);
    expect(allowed(rule, { url: 'https://api.example.com' })).toBe(true);
    expect(allowed(rule, { url: 'https://api.example.com/mcp/more' })).toBe(false);
    expect(allowed(rule, { url: 'https://evil.example/https://api.example.com/mcp' })).toBe(false);
  });
});

describe('CA-8 what cannot be decided is not allowed', () => {
  test.each([
    ['a malformed pattern', '('],
    ['a pattern that ends the brackets around it', '.*)|(.*'],
    ['a pattern too long', `a?`.repeat(300)],
    ['a back-reference', '(.)\\1'],
  ])('CA-8 %s', (_, pattern) => {
    expect(allowed({ command: 'company-cli', args: [{ pattern }] }, cli('aa'))).toBe(false);
  });

  test('CA-8 a pattern made to take forever ends', () => {
    const rule = { command: 'company-cli', args: [{ pattern: '(a+)+$' }] };
    expect(allowed(rule, cli(`${'a'.repeat(9_000)}!`))).toBe(false);
  });

  test('CA-8 no rule allows nothing', () => {
    expect(isAllowed('docs', cli(), [{ source: 'test', allow: [] }])).toBe(false);
  });

  test('CA-8 any text full-matches itself as a pattern, and no other', () => {
    const literal = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(literal, literal, (text, other) => {
        const pattern = text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
        const rule = { command: 'company-cli', args: [{ pattern }] };
        expect(isAllowed('docs', cli(other), [{ source: 'test', allow: [rule] }])).toBe(other === text);
        expect(isAllowed('docs', cli(text), [{ source: 'test', allow: [rule] }])).toBe(true);
      }),
    );
  });
});

describe('CA-8 in a catalog', () => {
  const requirements = {
    source: '/etc/requirements.json',
    allow: [{ command: 'good' }, { url: 'https://good.example/' }],
  };

  test('CA-8 a disallowed server is disabled with its reason, and the others are not', () => {
    const { servers } = createCatalogBuilder()
      .require(requirements)
      .registerAll({ kind: 'config' }, { servers: { a: { command: 'good' }, b: { command: 'bad' } } })
      .build();
    expect(servers['a']?.disabled).toBeUndefined();
    expect(servers['b']).toEqual({
      source: { kind: 'config' },
      config: { command: 'bad', enabled: false },
      disabled: { kind: 'requirements', source: '/etc/requirements.json' },
    });
  });

  test('CA-8 what is laid over a catalog later is limited too, and what is off by it vetoes nothing', () => {
    const base = createCatalogBuilder()
      .require(requirements)
      .register({ name: 'a', source: { kind: 'config' }, config: { command: 'bad' } })
      .build();
    const over = createCatalogBuilder(base)
      .register({ name: 'a', source: { kind: 'extension', id: 'e', order: 0 }, config: { command: 'good' } })
      .register({ name: 'b', source: { kind: 'extension', id: 'e', order: 0 }, config: { url: 'https://bad.example' } })
      .build();
    expect(over.servers['a']?.disabled).toBeUndefined();
    expect(over.servers['b']?.disabled).toEqual({ kind: 'requirements', source: '/etc/requirements.json' });
  });

  test('CA-8 of several requirements each must allow a server', () => {
    const { servers } = createCatalogBuilder()
      .require(requirements)
      .require({ source: 'second', allow: [{ command: 'other' }] })
      .register({ name: 'a', source: { kind: 'config' }, config: { command: 'good' } })
      .build();
    expect(servers['a']?.disabled).toEqual({ kind: 'requirements', source: 'second' });
  });

  test('CA-8 a server given as an object has no identity to limit', () => {
    const given = { inMemory: () => ({ connect: () => Promise.resolve() }) };
    expect(identityOfServer(given)).toBeUndefined();
    expect(identityOfServer({ command: 'x', args: ['y'] })).toEqual({ command: 'x' });
    expect(identityOfServer({ url: 'https://a' })).toEqual({ url: 'https://a' });
    expect(isAllowed('a', given, [requirements])).toBe(true);
  });
});
