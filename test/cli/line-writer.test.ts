import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { LineWriter, maxWaitingBytes } from '../../src/cli/jsonl/line-writer.ts';

/** A reader of stdout that takes a line only when it is told to. */
class SlowReader {
  readonly lines: string[] = [];
  readonly stream: Writable;
  #next: (() => void) | undefined;

  constructor() {
    this.stream = new Writable({
      write: (chunk: Buffer, _, done) => {
        this.lines.push(chunk.toString());
        this.#next = () => done();
      },
    });
  }

  async readAll(): Promise<void> {
    while (this.stream.writableLength > 0) {
      this.#next?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const at = '2026-01-01T00:00:00.000Z';
const megabyte = 'x'.repeat(1024 * 1024);

test('CL-2 leaves out only progress and logs when a slow reader lets more than its share wait, and says how many', async () => {
  const reader = new SlowReader();
  let drained = 0;
  const writer = new LineWriter(reader.stream, { onBroken: () => undefined, onDrain: () => (drained += 1) });
  const fits = Math.ceil(maxWaitingBytes / megabyte.length);
  for (let count = 0; count < fits + 5; count += 1) {
    writer.event({ type: 'server.logged', at, server: 'one', level: 'info', data: megabyte });
  }
  writer.event({ type: 'step.began', at, step: 'step-1', generation: 1 });
  writer.write('{"id":1,"ok":true,"result":{}}');
  expect(writer.isBlocked).toBe(true);
  await reader.readAll();
  expect(writer.isBlocked).toBe(false);
  expect(drained).toBeGreaterThan(0);
  const logs = reader.lines.filter((line) => line.includes('server.logged'));
  const dropped = fits + 5 - logs.length;
  expect(dropped).toBeGreaterThan(0);
  expect(reader.lines.slice(logs.length, -1)).toEqual([
    `{"event":{"type":"step.began","at":"${at}","step":"step-1","generation":1}}\n`,
    '{"id":1,"ok":true,"result":{}}\n',
  ]);
  expect(reader.lines.at(-1)).toContain(`"events_dropped","message":"The reader of stdout was too slow: ${dropped} `);
});

test('CL-2 tells once that stdout is broken, and writes no more', async () => {
  let broken = 0;
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const writer = new LineWriter(stream, { onBroken: () => (broken += 1), onDrain: () => undefined });
  writer.write('1');
  await new Promise((resolve) => stream.once('close', resolve));
  writer.write('2');
  await writer.flush(1_000);
  expect(broken).toBe(1);
});
