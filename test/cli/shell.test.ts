/** The interactive shell on a terminal that is two pipes: what is typed, and what is shown. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerMap } from 'holdfast';
import { scriptedServer, type ScriptedServer, type ServerScript, stdioServerConfig } from 'holdfast/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keys, Person } from './person.ts';

let directory = '';
const endings: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-shell-'));
});

afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
  await rm(directory, { recursive: true, force: true });
});

function serve(script: ServerScript = {}): ScriptedServer {
  const server = scriptedServer(script);
  endings.push(async () => server.close());
  return server;
}

async function open(servers: ServerMap, args: readonly string[] = []): Promise<Person> {
  const person = new Person(directory, servers, args);
  endings.push(async () => {
    await person.type(keys.ctrlC, keys.ctrlC);
    await person.exitCode;
  });
  await person.sees(/Generation 1 is current\.[\s\S]*holdfast> /);
  return person;
}

describe('commands', () => {
  test('CL-1 lists tools, calls one and shows its result', async () => {
    const person = await open({ one: serve().config });
    await person.type('tools', keys.enter);
    expect(await person.sees(/echo[\s\S]*holdfast> /)).toContain('Returns `text`');
    await person.type('call one/echo text="hello there"', keys.enter);
    await person.sees(/[\r\n]hello there[\s\S]*holdfast> /);
    await person.type('status', keys.enter);
    await person.sees(/Thread active, generation 1\.[\s\S]*one +ready/);
  });

  test('CL-1 completes commands, tools, servers and questions', async () => {
    const person = await open({ one: serve().config });
    await person.type('tools', keys.enter);
    await person.sees(/echo[\s\S]*holdfast> /);
    await person.type('stat', keys.tab);
    await person.sees(/status /);
    await person.type(keys.enter);
    await person.sees(/Thread active[\s\S]*holdfast> /);
    await person.type('call one/ech', keys.tab);
    await person.sees(/one\/echo /);
    await person.type('text=completed', keys.enter);
    await person.sees(/[\r\n]completed/);
    await person.type('restart o', keys.tab);
    await person.sees(/restart one /);
    await person.type(keys.enter);
    expect(await person.sees(/is (\w+)\./)).toContain('one is ready.');
  });

  test('CL-1 says what was wrong, without a stack, and goes on', async () => {
    const person = await open({ one: serve().config });
    await person.type(
      'dance',
      keys.enter,
      'call',
      keys.enter,
      'call nothing',
      keys.enter,
      'call one/echo {',
      keys.enter,
      'answer',
      keys.enter,
      'call one/throwError',
      keys.enter,
    );
    await person.sees(/Expected a command, got "dance"/);
    await person.sees(/Expected the name of a tool/);
    await person.sees(/Expected a tool, got "nothing"/);
    await person.sees(/Expected the arguments to be one JSON object/);
    await person.sees(/No question is open/);
    await person.sees(/holdfast> /);
    await person.type('help', keys.enter);
    await person.sees(/replace \[file …\]/);
    expect(person.shown).not.toMatch(/\n\s+at /);
  });

  test('CL-1 shows the progress of a long call', async () => {
    const server = serve();
    const person = await open({ one: server.config });
    await person.type('call one/progress {"steps":4,"key":"k"}', keys.enter);
    await person.sees(/one\/progress \d+\.\d s 4\/4 \(100 %\) step 4/);
    server.release('k');
    expect(await person.sees(/holdfast> /)).toContain('done');
  });

  test('CL-1 RT-1 runs a call in the background, lists it, replaces meanwhile, and tells its end', async () => {
    const server = serve();
    const person = await open({ one: server.config });
    await person.type('call one/park {"key":"k"} &', keys.enter);
    await person.sees(/call-1 of one\/park goes on in the background[\s\S]*holdfast> /);
    await server.untilParked('k');
    await person.type('calls', keys.enter);
    await person.sees(/Call call-1 of \S+park is running, on generation 1\.[\s\S]*holdfast> /);
    await person.type('call one/ask &', keys.enter);
    await person.sees(/one asks [\s\S]*Type "answer 1"\./);
    await writeFile(join(directory, 'holdfast.json'), '{"mcpServers":{}}');
    await person.type('replace', keys.enter);
    await person.sees(/took over from 1, whose calls go on\.[\s\S]*holdfast> /);
    server.release('k', 'late');
    await person.sees(/call-1 of one\/park ended:\s+late[\s\S]*holdfast> /);
    await person.type('answer 1 decline', keys.enter);
    expect(await person.sees(/call-2 of one\/ask ended:[\s\S]*holdfast> /)).toContain('"action":"decline"');
    await person.type('calls', keys.enter);
    await person.sees(/No call runs\./);
  });

  test('CL-1 keeps what is typed during a call off its progress, and takes it up afterwards', async () => {
    const server = serve();
    const person = await open({ one: server.config });
    await person.type('call one/park {"key":"k"}', keys.enter);
    await server.untilParked('k');
    await person.type('call one/echo text=ahead', keys.enter, 'stat');
    server.release('k', 'released');
    const shown = await person.sees(/[\r\n]ahead[\s\S]*holdfast> stat/);
    expect(shown).toMatch(/released[\s\S]*holdfast> call one\/echo text=ahead/);
    expect(shown.slice(0, shown.indexOf('released'))).not.toContain('one/echo');
    await person.type('us', keys.enter);
    await person.sees(/Thread active/);
  });

  test('CL-1 shows every event while it is told to', async () => {
    const person = await open({ one: serve().config });
    await person.type('events on', keys.enter);
    await person.sees(/holdfast> /);
    await person.type('call one/echo text=x', keys.enter);
    expect(await person.sees(/step\.ended/)).toMatch(/step\.began[\s\S]*call\.started[\s\S]*call\.ended/);
  });

  test('CL-1 shows no event of the steps it begins only to look, and one id for a call', async () => {
    const person = await open({ one: serve().config });
    await person.type('events on', keys.enter);
    await person.sees(/holdfast> /);
    await person.type('tools', keys.enter);
    expect(await person.sees(/echo[\s\S]*holdfast> /)).not.toContain('step.');
    await person.type('call one/ask', keys.enter);
    const shown = await person.sees(/elicitation\.opened[^\n]*/);
    expect(shown).toMatch(/call\.started [^\n]*call=call-1 /);
    expect(shown).toMatch(/elicitation\.opened [^\n]*call=call-1 /);
    expect(shown).not.toContain('request=');
  });

  test('CL-1 replaces by what it was started with, names the file, and says it once', async () => {
    const person = await open({});
    await person.type('replace', keys.enter);
    await person.sees(/Expected a file, and there is no holdfast\.json/);
    await writeFile(join(directory, 'holdfast.json'), '{"mcpServers":{}}');
    await writeFile(join(directory, 'other.json'), '{"mcpServers":{}}');
    await person.type('replace other.json', keys.enter);
    await person.sees(/Generation 2 is current, from \S*other\.json; it took over from 1\.[\s\S]*holdfast> /);
    await person.type('replace', keys.enter);
    const shown = await person.sees(/Generation 3 is current[\s\S]*holdfast> /);
    expect(shown).toMatch(/from \S*holdfast\.json; it took over from 2\./);
    expect(shown.match(/is current/g)).toHaveLength(1);
    await writeFile(join(directory, 'holdfast.json'), '{');
    await person.type('replace', keys.enter);
    expect(await person.sees(/config_syntax[\s\S]*holdfast> /)).not.toContain('is current');
  });
});

describe('questions', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', pattern: '^[A-Za-z]{3,}$' },
      age: { type: 'integer', minimum: 1 },
      colour: { type: 'string', enum: ['red', 'blue'] },
      sure: { type: 'boolean' },
    },
    required: ['name', 'age', 'colour', 'sure'],
  };

  test('CL-1 EL-4 puts the question of a running call as a form, and again when the answer does not fit', async () => {
    const person = await open({ one: serve().config });
    await person.type(`call one/ask ${JSON.stringify({ message: 'Who goes there?', schema })}`, keys.enter);
    await person.sees(/one asks[\s\S]*Who goes there\?[\s\S]*Answer/);
    await person.type(keys.enter);
    await person.sees(/name/);
    await person.type('Al', keys.enter);
    await person.sees(/age/);
    await person.type('x', keys.enter);
    await person.sees(/Enter a number/);
    await person.type('\u007F', '4', '2', keys.enter);
    await person.sees(/colour[\s\S]*blue/);
    await person.type(keys.down, keys.enter);
    await person.sees(/sure[\s\S]*No/);
    await person.type('y');
    // The pattern says three letters, so that field is asked again, with what was entered.
    await person.sees(/ name: /);
    await person.sees(/name[\s\S]*Al/);
    await person.type('an', keys.enter);
    await person.sees(/Answer delivered\./);
    const shown = await person.sees(/holdfast> /);
    expect(shown).toContain('"action":"accept"');
    expect(shown).toContain('"content":{"name":"Alan","age":42,"colour":"blue","sure":true}');
  });

  test('CL-1 EL-5 shows the exact url and its host, opens nothing, and waits for the person', async () => {
    const person = await open({ one: serve().config });
    await person.type('call one/askUrl {"url":"https://xn--bcher-kva.example:8443/a?b=c"}', keys.enter);
    const shown = await person.sees(/I opened it: go on/);
    expect(shown).toContain('https://xn--bcher-kva.example:8443/a?b=c');
    expect(shown).toContain('xn--bcher-kva.example:8443');
    expect(shown).toContain('bücher.example');
    await person.type(keys.down, keys.enter);
    await person.sees(/Answer delivered\.[\s\S]*"decline"/);
  });

  test('CL-1 RT-1 lets the person decide later, replace the runtime, and answer then', async () => {
    const file = join(directory, 'holdfast.json');
    await writeFile(file, JSON.stringify({ mcpServers: { one: stdioServerConfig({ tools: ['ask'] }) } }));
    const person = await open({});
    await person.type('call one/ask', keys.enter);
    await person.sees(/What is your name\?[\s\S]*Decide later/);
    await person.type(keys.up, keys.enter);
    await person.sees(/goes on in the background[\s\S]*holdfast> /);
    await writeFile(file, JSON.stringify({ mcpServers: {} }));
    await person.type('replace', keys.enter);
    await person.sees(/Generation 2 is current, from \S*holdfast\.json; it took over from 1, whose calls go on\./);
    await person.type('status', keys.enter);
    await person.sees(/Runtime 1 is retired, held by step[\s\S]*is paused, on generation 1/);
    await person.type('questions', keys.enter);
    await person.sees(/\[1\] one asks for call call-1 \(form, generation 1\)/);
    await person.type('answer 1 {"name":"Ada"}', keys.enter);
    await person.sees(/Answer delivered\./);
    expect(await person.sees(/one\/ask ended:[\s\S]*holdfast> /)).toContain('"name":"Ada"');
  });

  test('CL-1 takes Escape in a form as deciding later, in a field too: the call goes on', async () => {
    const person = await open({ one: serve().config });
    await person.type('call one/ask', keys.enter);
    await person.sees(/Decide later/);
    await person.type('\u001B');
    await person.sees(/goes on in the background[\s\S]*holdfast> /);
    await person.type('answer', keys.enter);
    await person.sees(/Decide later/);
    await person.type(keys.enter);
    await person.sees(/name/);
    await person.type('\u001B');
    await person.sees(/holdfast> /);
    await person.type('answer 1 {"name":"Ada"}', keys.enter);
    expect(await person.sees(/one\/ask ended:[\s\S]*holdfast> /)).toContain('"name":"Ada"');
  });

  test('CL-1 CA-4 follows its files with --watch, and says what it did not take over', async () => {
    const file = join(directory, 'holdfast.json');
    await writeFile(file, JSON.stringify({ mcpServers: {} }));
    const person = await open({}, ['--watch']);
    await writeFile(file, JSON.stringify({ mcpServers: { one: { command: 'x', enabled: false } } }));
    await person.sees(/Generation 2 is current\./);
    await writeFile(file, '{');
    expect(await person.sees(/An edit was not taken over: .*line 1/)).not.toContain('Generation 3');
  });

  test('CL-1 EL-8 takes a form away when its question is gone', async () => {
    const server = serve();
    const person = await open({ one: server.config });
    await person.type('call one/ask', keys.enter);
    await person.sees(/Decide later/);
    await server.crash();
    await person.sees(/no longer open[\s\S]*holdfast> /);
    await person.type('call one/echo text=again', keys.enter);
    expect(await person.sees(/[\r\n]again/)).not.toContain('What do you answer?');
  });
});

describe('leaving', () => {
  test('CL-1 aborts the call at the first Ctrl-C, in a form too, and stays', async () => {
    const server = serve();
    const person = await open({ one: server.config });
    await person.type('call one/park', keys.enter);
    await server.untilParked('default');
    await person.type(keys.ctrlC);
    await person.sees(/Aborting the call[\s\S]*aborted: you pressed Ctrl-C\.[\s\S]*holdfast> /);
    await person.type('call one/ask', keys.enter);
    await person.sees(/Decide later/);
    await person.type(keys.ctrlC);
    expect(await person.sees(/holdfast> /)).toContain('aborted');
  });

  test('CL-1 RT-11 leaves at Ctrl-C with 130 and at the end of input or quit with 0, everything closed', async () => {
    for (const [key, code] of [
      [keys.ctrlC, 130],
      [keys.ctrlD, 0],
      [`quit${keys.enter}`, 0],
    ] as const) {
      const server = serve();
      const person = await open({ one: server.config });
      endings.pop();
      await person.type(key);
      expect(await person.exitCode).toBe(code);
      expect(server.connections).toBe(0);
    }
  });
});

test('CL-1 completes raw names of tools, their arguments, files, and questions by number', async () => {
  const person = await open({ one: serve().config });
  await writeFile(join(directory, 'elsewhere.json'), '{"mcpServers":{}}');
  await person.type('tools nope', keys.enter);
  await person.sees(/Expected the name of a server, got "nope"\. There are "one"\.[\s\S]*holdfast> /);
  await person.type('call ech', keys.tab, keys.tab, 'hello', keys.enter);
  expect(await person.sees(/[\r\n]hello[\s\S]*holdfast> /)).toContain('call echo text=hello');
  await person.type('call ask &', keys.enter);
  await person.sees(/Type "answer 1"[\s\S]*holdfast> /);
  await person.type('answer ', keys.tab, 'decl', keys.tab, keys.enter);
  await person.sees(/Answer delivered[\s\S]*ended:[\s\S]*holdfast> /);
  await person.type('replace els', keys.tab, keys.enter);
  expect(await person.sees(/Generation 2 is current[^\n]*/)).toContain('elsewhere.json');
});
