/** Where metadata and tokens may be fetched from. */
import { lookup } from 'node:dns/promises';
import { describe, expect, test } from 'vitest';
import { Neighbourhood, reachOf } from '../../../src/mcp/auth/addresses.ts';

describe('an address', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.0.3', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['169.254.169.254', 'linkLocal'],
    ['fe80::1', 'linkLocal'],
    ['::ffff:169.254.169.254', 'linkLocal'],
    ['10.1.2.3', 'private'],
    ['172.20.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.1.1', 'private'],
    ['fd00::1', 'private'],
    ['0.0.0.0', 'private'],
    ['::ffff:a9fe:a9fe', 'linkLocal'],
    ['64:ff9b::7f00:1', 'private'],
    ['::7f00:1', 'private'],
    ['2002:7f00:1::', 'private'],
    ['8.8.8.8', 'public'],
    ['172.32.0.1', 'public'],
    ['2606:4700::1111', 'public'],
  ])('SE-2 %s is %s', (address, reach) => {
    expect(reachOf(address)).toBe(reach);
  });
});

describe('what a server may send this client to', () => {
  const check = (server: string, target: string, trusted: readonly string[] = []): Promise<void> =>
    new Neighbourhood(server, trusted).check(new URL(target));

  test.each([
    ['https://93.184.215.14/mcp', 'https://1.1.1.1/'],
    ['http://127.0.0.1:1/mcp', 'http://127.0.0.1:2/'],
    ['http://[::1]:1/mcp', 'http://127.0.0.1:2/'],
    ['http://10.0.0.1/mcp', 'https://10.200.0.7/'],
    ['http://192.168.1.4/mcp', 'https://8.8.8.8/'],
  ])('SE-2 %s may send to %s', async (server, target) => {
    await expect(check(server, target)).resolves.toBeUndefined();
  });

  test.each([
    ['https://93.184.215.14/mcp', 'http://127.0.0.1/'],
    ['https://93.184.215.14/mcp', 'http://[::1]/'],
    ['https://93.184.215.14/mcp', 'https://10.0.0.7/'],
    ['https://93.184.215.14/mcp', 'http://169.254.169.254/'],
    ['https://93.184.215.14/mcp', 'http://2130706433/'],
    ['http://127.0.0.1:1/mcp', 'http://169.254.169.254/'],
    ['http://10.0.0.1/mcp', 'http://127.0.0.1/'],
    ['http://127.0.0.1:1/mcp', 'https://10.0.0.7/'],
    ['http://[::1]:1/mcp', 'http://[fd00::2]/'],
    ['http://10.0.0.1/mcp', 'https://192.168.0.7/'],
    ['http://169.254.1.1/mcp', 'http://10.0.0.1/'],
  ])('SE-2 %s may not send to %s', async (server, target) => {
    await expect(check(server, target)).rejects.toMatchObject({ code: 'protocol_error' });
  });

  test.each([
    ['http://127.0.0.1:1/mcp', 'http://10.0.0.1:81/', ['"10.0.0.1"', 'private address of 10.0.0.0/8', 'this machine']],
    ['http://10.0.0.1/mcp', 'http://192.168.0.7/', ['"192.168.0.7"', '192.168.0.0/16', '10.0.0.0/8']],
    ['https://1.1.1.1/mcp', 'http://127.0.0.1/', ['"127.0.0.1"', 'a loopback address', 'a public address']],
    ['https://1.1.1.1/mcp', 'http://169.254.169.254/', ['"169.254.169.254"', 'a link-local address']],
  ])('SE-2 says where %s is and where %s, and what to do', async (server, target, said) => {
    const message = await check(server, target).then(() => '', String);
    for (const each of [...said, 'oauth.issuer', 'not asked']) expect(message).toContain(each);
  });

  test('SE-2 a url the person configured is right wherever it is', async () => {
    await expect(
      check('https://93.184.215.14/mcp', 'https://10.0.0.7/token', ['https://10.0.0.7/']),
    ).resolves.toBeUndefined();
  });

  test('SE-2 a name is looked up, and refused for where it leads', async () => {
    const { address } = await lookup('localhost');
    const looked = (server: string): Promise<unknown> =>
      new Promise((resolve) => {
        new Neighbourhood(server).lookup('localhost', { all: false }, (error, found) => resolve(error ?? found));
      });
    expect(await looked('https://93.184.215.14/mcp')).toMatchObject({ code: 'protocol_error' });
    expect(await looked('http://localhost:7/mcp')).toBe(address);
  });
});
