/** The shell on a real terminal that goes away under it. Python is what can make one here. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stdioServerConfig } from 'holdfast/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const loader = join(root, 'node_modules/tsx/dist/loader.mjs');
const hasPython = spawnSync('python3', ['-c', 'import pty, select']).status === 0;

/** Starts a program on a terminal, types a line when it has said one thing, and takes the terminal away at another. */
const driver = `
import fcntl, os, pty, select, signal, struct, sys, termios
line, ready, program = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(program[0], program)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
signal.alarm(50)
seen = b''
def until(text):
    global seen
    while text not in seen:
        select.select([terminal], [], [])
        seen += os.read(terminal, 65536)
    seen = seen[seen.index(text) + len(text):]
until(b'Generation 1 is')
os.write(terminal, line.encode())
until(ready.encode())
servers = [int(text) for text in open('pids').read().split()]
os.close(terminal)
_, status = os.waitpid(pid, 0)
def is_there(server):
    try:
        return open('/proc/%d/stat' % server).read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False
print(os.waitstatus_to_exitcode(status), len(servers) > 0, sum(map(is_there, servers)))
`;

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-terminal-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test.skipIf(!hasPython || process.platform !== 'linux').each([
  ['at the prompt', 'status\r', 'ready'],
  ['in a form of a running call', 'call one/ask\r', 'What do you answer?'],
  ['while a call runs', 'call one/park\r', 'one/park '],
])(
  'CL-1 RT-11 H10 closes everything and ends with 129 when its terminal goes away %s',
  async (_, line, ready) => {
    const server = stdioServerConfig({ tools: ['ask', 'park'] });
    const command = `echo $$ >> ${join(directory, 'pids')}; exec "$0" "$@"`;
    const config = join(directory, 'holdfast.json');
    await writeFile(
      config,
      JSON.stringify({
        mcpServers: {
          one: { ...server, command: '/bin/sh', args: ['-c', command, server.command, ...(server.args ?? [])] },
        },
      }),
    );
    const program = [process.execPath, '--import', loader, join(root, 'src/cli/main.ts'), '--config', config];
    const { stdout, stderr } = spawnSync('python3', ['-c', driver, line, ready, ...program], {
      cwd: directory,
      encoding: 'utf8',
      timeout: 55_000,
    });
    expect(stderr).toBe('');
    expect(stdout.trim()).toBe('129 True 0');
  },
  60_000,
);
