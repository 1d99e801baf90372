/** Edits a watched configuration while a call runs: the call goes on, and the next step sees the edit. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCatalogBuilder, createThread } from 'holdfast';
import { watchConfig } from 'holdfast/config';
import { filter, firstValueFrom, map, Subject } from 'rxjs';

const directory = await mkdtemp(join(tmpdir(), 'holdfast-reload-'));
const file = join(directory, 'holdfast.json');
const everything = { command: 'npx', args: ['mcp-server-everything'], tools: { allow: ['echo', 'get-sum'] } };
await writeFile(file, JSON.stringify({ mcpServers: { everything } }));

const warnings$ = new Subject<string>();
const catalog = watchConfig([file], { onWarning: ({ message }) => warnings$.next(message) }).pipe(
  map((config) => createCatalogBuilder().registerAll({ kind: 'config', file }, config).build()),
);
await using thread = createThread({ catalog });
const published = (generation: number) =>
  firstValueFrom(thread.events$.pipe(filter((e) => e.type === 'runtime.published' && e.generation === generation)));

const step = await thread.beginStep();
console.log(`Step 1, runtime ${step.generation}: ${step.tools.map(({ tool }) => tool).join(', ')}`);

const second = published(2);
await writeFile(file, JSON.stringify({ mcpServers: { everything: { ...everything, tools: { allow: ['echo'] } } } }));
await second;
const next = await thread.beginStep();
console.log(`Step 2, runtime ${next.generation}: ${next.tools.map(({ tool }) => tool).join(', ')}`);
const sum = await step.callTool('mcp__everything__get-sum', { a: 2, b: 3 });
console.log(`Step 1 still calls what it was shown: ${JSON.stringify(sum.content[0]?.['text'])}`);

const warned = firstValueFrom(warnings$);
await writeFile(file, '{ "mcpServers": ');
console.log((await warned).replace(directory, '…'));
console.log(`Runtime ${thread.snapshot().generation} is still current.`);
await rm(directory, { recursive: true });
