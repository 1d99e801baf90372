/** A plugin in another place: its server is there while the place is. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLauncher, createEnvironments, createThread } from 'holdfast';
import { filter, firstValueFrom } from 'rxjs';

// The other place of this example is this machine behind "env"; yours is behind "docker exec -i box", "ssh host", …
const path = await mkdtemp(join(tmpdir(), 'holdfast-plugin-'));
const program = join(process.cwd(), 'node_modules/.bin/mcp-server-everything');
await writeFile(join(path, '.mcp.json'), JSON.stringify({ mcpServers: { everything: { command: program } } }));

const environments = createEnvironments({
  roots: [{ plugin: { id: 'everything', name: 'Everything' }, environment: 'box', path }],
});
await using thread = createThread({ environments, limits: { startGraceMs: 30_000 } });
const published = (generation: number) =>
  firstValueFrom(thread.events$.pipe(filter((e) => e.type === 'runtime.published' && e.generation === generation)));
const show = async (): Promise<void> => {
  await using step = await thread.beginStep();
  console.log(`Runtime ${step.generation}, box ${environments.states['box']?.kind}: ${step.tools.length} tools`);
};

environments.starting('box');
await show();

const second = published(2);
environments.ready('box', { handle: 'box-1', launcher: commandLauncher({ prefix: ['env'] }) });
await second;
await show();

const third = published(3);
environments.failed('box', 'Its machine was stopped.');
await third;
await show();
await rm(path, { recursive: true });
