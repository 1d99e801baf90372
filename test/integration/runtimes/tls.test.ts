import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createHttpTransport } from '../../../src/mcp/transports/http.ts';
import { readAuthorities } from '../../../src/mcp/transports/authorities.ts';
import { createThread } from '../../../src/index.ts';
import { SimulatedClock } from '../../../src/testing/index.ts';
import { request } from '../../mcp/transports/http-fixture.ts';
import { Recorder } from '../../mcp/transports/recorder.ts';
import { makeCertificate, serveTls } from '../../mcp/transports/tls-fixture.ts';
import { serverOf, textOf } from './support.ts';

test('RT-7 CN-7 a certificate nobody vouches for is a failed server that says what is wrong and how to mend it', async () => {
  using certificate = makeCertificate();
  await using server = await serveTls(certificate);
  await using thread = createThread({ servers: { a: { url: server.url } }, clock: new SimulatedClock() });
  await thread.ready();
  const { state, error, retryAt } = serverOf(thread, 'a');
  expect({ state, code: error?.code }).toEqual({ state: 'failed', code: 'server_unavailable' });
  expect(error?.message).toContain('got one that is self-signed');
  expect(error?.message).toContain('"caFile"');
  expect(error?.message).toContain('NODE_EXTRA_CA_CERTS');
  expect(retryAt).toBeDefined();
});

test('CN-7 a server whose authority is named in caFile is trusted, and nobody else for it', async () => {
  using certificate = makeCertificate();
  using other = makeCertificate();
  await using server = await serveTls(certificate);
  const servers = {
    a: { url: server.url, caFile: certificate.file },
    b: { url: server.url },
    c: { url: server.url, caFile: other.file },
  };
  await using thread = createThread({ servers, clock: new SimulatedClock() });
  await thread.ready();
  const step = await thread.beginStep();
  expect(textOf(await step.callTool('mcp__a__echo'))).toBe('over TLS');
  expect([serverOf(thread, 'b').state, serverOf(thread, 'c').state]).toEqual(['failed', 'failed']);
});

test('CN-7 a certificate of another host says so', async () => {
  using certificate = makeCertificate('DNS:elsewhere.example');
  await using server = await serveTls(certificate);
  await using thread = createThread({
    servers: { a: { url: server.url, caFile: certificate.file } },
    clock: new SimulatedClock(),
  });
  await thread.ready();
  expect(serverOf(thread, 'a').error?.message).toContain('got one that is for another host');
});

test('CN-7 a file that holds no certificate, or is none, makes its server fail and says so', async () => {
  using certificate = makeCertificate();
  const empty = `${certificate.file}.txt`;
  writeFileSync(empty, 'nothing');
  const url = 'https://127.0.0.1:9/mcp';
  const servers = { a: { url, caFile: empty }, b: { url, caFile: `${certificate.file}.missing` } };
  await using thread = createThread({ servers });
  await thread.ready();
  for (const name of ['a', 'b']) {
    const { state, error } = serverOf(thread, name);
    expect({ state, code: error?.code }).toEqual({ state: 'failed', code: 'server_misconfigured' });
    expect(error?.message).toContain(`Server "${name}": expected "caFile"`);
  }
});

test('CN-7 https goes through the tunnel of a proxy, under the names of either case, and by its authority', async () => {
  using certificate = makeCertificate('DNS:inside.test');
  await using server = await serveTls(certificate);
  const { port } = new URL(server.url);
  const asked: string[] = [];
  const proxy = createServer().on('connect', ({ url = '' }, client) => {
    asked.push(url);
    const onward = connect(Number(port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(client).pipe(onward);
    });
    onward.on('error', () => client.destroy());
    client.on('error', () => onward.destroy()).on('close', () => onward.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  const origin = `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : '')}`;
  const authorities = await readAuthorities('a', certificate.file);
  try {
    for (const name of ['https_proxy', 'HTTPS_PROXY', 'HTTP_PROXY', 'http_proxy']) {
      const recorder = new Recorder();
      const env = { [name]: origin, NO_PROXY: 'elsewhere.test' };
      const options = { url: 'https://inside.test/mcp', listener: recorder, env, authorities };
      const transport = createHttpTransport(options);
      await transport.start();
      await transport.send(request(1, 'tools/list'));
      await recorder.result(1);
      await transport.close();
    }
    const excepted = createHttpTransport({
      url: 'https://inside.test/mcp',
      listener: new Recorder(),
      env: { https_proxy: origin, no_proxy: '.test' },
    });
    await excepted.start();
    await expect(excepted.send(request(1))).rejects.toMatchObject({ code: 'server_unavailable', outcome: 'not-sent' });
    await excepted.close();
    expect(asked).toEqual(Array.from({ length: 4 }, () => 'inside.test:443'));
  } finally {
    proxy.close();
    await once(proxy, 'close');
  }
});
