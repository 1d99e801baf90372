/** Takes the configuration files of two other tools, and runs the servers they name. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createThread } from 'holdfast';
import { readConfig } from 'holdfast/config';

const project = await mkdtemp(join(tmpdir(), 'holdfast-config-'));
const editor = join(project, '.vscode', 'mcp.json');
const codex = join(project, '.codex', 'config.toml');
await mkdir(join(project, '.vscode'));
await mkdir(join(project, '.codex'));
const everything = { command: 'npx', args: ['mcp-server-everything'] };
await writeFile(editor, JSON.stringify({ servers: { everything, docs: { url: 'https://${env:NO_SUCH_HOST}/mcp' } } }));
await writeFile(
  codex,
  '[mcp_servers.sums]\ncommand = "npx"\nargs = ["mcp-server-everything"]\nenabled_tools = ["get-sum"]\n',
);

const config = await readConfig([editor, codex]);
for (const { message } of config.warnings) console.log(`Worth knowing: ${message.replaceAll(project, '…')}`);

await using thread = createThread({ ...config, limits: { startGraceMs: 20_000 } });
const step = await thread.beginStep();
for (const { name, state, toolCount, error } of thread.snapshot().servers)
  console.log(
    `${name}: ${state}, ${toolCount} tools${error === undefined ? '' : `. ${error.message}`}`.replaceAll(project, '…'),
  );
const sum = await step.callTool('mcp__sums__get-sum', { a: 2, b: 3 });
console.log(JSON.stringify(sum.content[0]?.['text']));
await rm(project, { recursive: true });
