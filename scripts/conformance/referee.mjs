/**
 * The official conformance suite, and a Node that can run it.
 *
 * The suite needs Node 22; the package itself is tested under the Node that runs this script. Where that one is older, a
 * Node 22 is fetched from the npm registry, once, into a folder that git ignores.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { root, runNpm } from '../process.mjs';

const oldestMajor = 22;
const fetchedVersion = '22.23.5';
const folder = `${root}temp/node-${fetchedVersion}/`;

/** The folder of the suite's package. */
export const suiteFolder = `${root}node_modules/@modelcontextprotocol/conformance/`;

/** The file of the suite's command. */
export const suiteCommand = `${suiteFolder}dist/index.js`;

/** There is no Node here that can run the suite. */
export class NoNodeError extends Error {}

/**
 * Resolves with the path of a Node that can run the suite.
 *
 * @returns {Promise<string>}
 * @throws NoNodeError when there is none for this machine, or the registry does not give it.
 */
export async function nodeForSuite() {
  if (Number.parseInt(process.versions.node, 10) >= oldestMajor) return process.execPath;
  const name = packageName();
  const file = `${folder}node_modules/${name}/bin/node${process.platform === 'win32' ? '.exe' : ''}`;
  if (!existsSync(file)) await fetchNode(name);
  if (existsSync(file)) return file;
  throw new NoNodeError(
    `Expected ${name}@${fetchedVersion} from the npm registry, got nothing. ` +
      `Run this with Node ${oldestMajor} or newer, or where the registry can be reached.`,
  );
}

function packageName() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  return `node-${platform}-${process.arch}`;
}

async function fetchNode(name) {
  process.stderr.write(
    `The conformance suite needs Node ${oldestMajor}, this is ${process.versions.node}: fetching ${name}@${fetchedVersion} …\n`,
  );
  mkdirSync(folder, { recursive: true });
  // Without a package of its own, npm would install into the one around it.
  writeFileSync(`${folder}package.json`, '{ "private": true }\n');
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--prefix', folder];
  await runNpm(['install', ...flags, `${name}@${fetchedVersion}`], { stdout: 'stderr' });
}

/** The version of the suite. */
export function suiteVersion() {
  return JSON.parse(readFileSync(`${suiteFolder}package.json`, 'utf8')).version;
}
