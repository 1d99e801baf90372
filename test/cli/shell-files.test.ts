/** The shell and the files it was started with: their policy as it changes, and the commands that stand in them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stdioServerConfig } from 'holdfast/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keys, Person } from './person.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-shell-files-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function write(name: string, value: unknown): Promise<void> {
  await writeFile(join(directory, name), JSON.stringify(value));
}

async function leave(person: Person): Promise<void> {
  await person.type(keys.ctrlD);
  expect(await person.exitCode).toBe(0);
}

test('CL-1 CA-4 PO-1 a changed policy of a watched file holds for the next call', async () => {
  const mcpServers = { one: stdioServerConfig({ tools: ['echo'] }) };
  await write('holdfast.json', { mcpServers });
  const person = new Person(directory, {}, ['--watch']);
  await person.sees(/Generation 1 is current\.[\s\S]*holdfast> /);
  await person.type('call one/echo text=free', keys.enter);
  await person.sees(/[\r\n]free[\s\S]*holdfast> /);
  await write('holdfast.json', { mcpServers, policy: { approval: 'prompt' } });
  await person.sees(/The policy of the files changed\.[\s\S]*holdfast> /);
  await person.type('call one/echo text=asked', keys.enter);
  await person.sees(/Approve this call/);
  await person.type(keys.enter);
  expect(await person.sees(/[\r\n]asked[\s\S]*holdfast> /)).not.toContain('not_approved');
  await leave(person);
});

test('CL-1 CA-3 a command of a file is asked for at the start and with "replace", once a command and file', async () => {
  const hub = (command: string) => ({
    mcpServers: { it: { command: 'x', disabled: true }, on: { command: 'x', env: { KEY: `\${cmd: ${command}}` } } },
  });
  const tracing = (text: string) => `echo ${text} >> ${join(directory, 'trace')}`;
  await write('mcphub.json', hub(tracing('first')));
  const person = new Person(directory, {}, ['--config', 'mcphub.json']);
  await person.sees(/wants to run this for a value of "on"[\s\S]*Run it\?/);
  await person.type('y');
  await person.sees(/Generation 1 is current\.[\s\S]*holdfast> /);
  await person.type('replace', keys.enter);
  expect(await person.sees(/Generation 2 is current, from [\s\S]*holdfast> /)).not.toContain('Run it?');
  await write('mcphub.json', hub(tracing('second')));
  await person.type('replace', keys.enter);
  await person.sees(/echo second[\s\S]*Run it\?/);
  await person.type('n');
  expect(await person.sees(/Generation 3 is current, from [\s\S]*holdfast> /)).toContain('--allow-commands');
  await person.type('status', keys.enter);
  await person.sees(/Thread active, generation 3[\s\S]*holdfast> /);
  expect(await readFile(join(directory, 'trace'), 'utf8')).toBe('first\nfirst\n');
  await leave(person);
});
