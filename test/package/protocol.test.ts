/** The table of the protocol names tests and scenarios that are there, and leaves out no method of either revision. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = new URL('../../', import.meta.url);
const page = read('docs/protocol.md');

/** The rows of all tables: what they are about, and what proves them. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .filter((cells) => cells.at(-2) !== 'Proven by')
  .map((cells) => ({ name: cells[1] ?? '', proofs: (cells.at(-2) ?? '').split('<br>') }));

/** Every request and notification of the schemas of both revisions, and of the extensions Holdfast speaks. */
const methods = [
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'tasks/update',
  'skills/list',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/message',
  'notifications/roots/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/subscriptions/acknowledged',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
  'notifications/tasks',
];

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

interface Requirements {
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
}

function parseRequirements(text: string): Requirements {
  return parse(text) as Requirements;
}

/** The client scenarios of a revision: required, and run without a score. */
function scenariosOf(revision: string): readonly string[] {
  const file = `node_modules/@modelcontextprotocol/conformance/requirements/${revision}.yaml`;
  const { client, not_scored: unscored } = parseRequirements(read(file));
  return [...client, ...unscored.filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario)];
}

/** What is wrong with a proof, or nothing. */
function faultOf(proof: string): string | undefined {
  const scenario = /^suite `([^`]+)`$/.exec(proof)?.[1];
  if (scenario !== undefined) return isPlayed(scenario) ? undefined : `no scenario ${scenario}`;
  const [, path, title] = /^\[[^\]]+\]\(\.\.\/(test\/[^)]+)\) “(.+)”$/.exec(proof) ?? [];
  if (path === undefined || title === undefined) return `neither a test nor a scenario: ${proof}`;
  if (!existsSync(new URL(path, root))) return `no file ${path}`;
  const quoted = title.replaceAll('\\|', '|');
  return [`'${quoted}'`, `"${quoted}"`, `\`${quoted}\``].some((literal) => read(path).includes(literal))
    ? undefined
    : `no test “${quoted}” in ${path}`;
}

const played = new Set([...scenariosOf('2025-11-25'), ...scenariosOf('2026-07-28')]);
const handlers = ['scenarios', 'authorization', 'skills'].map((file) => read(`test/conformance/${file}.ts`)).join('\n');

/** A scenario of the suite's lists, or of an extension they came before; the client has a handler for it. */
function isPlayed(scenario: string): boolean {
  const isListed = played.has(scenario) || read('scripts/conformance/scenario-list.mjs').includes(`'${scenario}'`);
  return isListed && (handlers.includes(`'${scenario}':`) || handlers.includes(`  ${scenario}:`));
}

test('ER-5 every row of docs/protocol.md names tests or scenarios that are there', () => {
  const faults = rows.flatMap(({ name, proofs }) =>
    proofs.map(faultOf).flatMap((fault) => (fault === undefined ? [] : [`${name}: ${fault}`])),
  );

  expect(rows.length).toBeGreaterThan(80);
  expect(faults).toEqual([]);
});

test('ER-5 docs/protocol.md says of every method of both revisions what becomes of it', () => {
  const named = new Set(rows.flatMap(({ name }) => [...name.matchAll(/`([^`]+)`/g)].map(([, code]) => code)));

  expect(methods.filter((method) => !named.has(method))).toEqual([]);
});

test('ER-5 the client has a handler for every scenario that is played', () => {
  expect([...played].filter((scenario) => !isPlayed(scenario))).toEqual([]);
});
