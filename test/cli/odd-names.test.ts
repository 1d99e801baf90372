/** Servers under names that mean something to the language, or nothing at all: `doctor` checks each like any other. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseReport, runIn } from './doctor-support.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-names-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test.each(['', '__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'CL-1 doctor checks a server named %j once, and the others',
  async (name) => {
    const entry = '{"command":"no-such-command"}';
    await writeFile(
      join(directory, 'holdfast.json'),
      `{"mcpServers":{${JSON.stringify(name)}:${entry},"bad":{"url":5},"z":${entry}}}`,
    );
    const { code, output, errors } = await runIn(['doctor', '--json'], { directory });
    expect({ code, errors }).toEqual({ code: 1, errors: '' });
    const { servers } = parseReport(output);
    expect(servers).toHaveLength(3);
    expect(servers).toEqual(
      expect.arrayContaining(
        [name, 'bad', 'z'].map((server): unknown => expect.objectContaining({ server, verdict: 'mend' })),
      ),
    );
    const shown = await runIn(['doctor'], { directory });
    expect(shown.code).toBe(1);
    expect(shown.output.trimEnd().split('\n')).toHaveLength(5);
  },
);
