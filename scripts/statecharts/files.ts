/** From a module's machines to files, and from files to what differs. */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderIndex, renderPage } from './page.ts';
import { isMachine, readChart } from './read.ts';
import type { Chart } from './read.ts';

/**
 * Renders the page of every export named `…Machine`, and the index; file name to text.
 *
 * @throws Error when there is none, or one lacks a description.
 */
export async function renderFiles(exports: Readonly<Record<string, unknown>>): Promise<ReadonlyMap<string, string>> {
  const charts = new Map<string, Chart>();
  for (const [name, value] of Object.entries(exports)) {
    if (name.endsWith('Machine') && isMachine(value)) charts.set(nounOf(name), readChart(value));
  }
  if (charts.size === 0) throw new Error('Expected machines among the exports, got none. Export them as "xMachine".');
  const sorted = new Map([...charts].toSorted(([left], [right]) => (left < right ? -1 : 1)));
  const files = new Map([['README.md', await renderIndex(sorted)]]);
  for (const [noun, chart] of sorted) files.set(`${noun}.md`, await renderPage(noun, chart));
  return files;
}

/** Writes `files` to `folder`, and removes pages of machines that are gone. */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const stray of pagesIn(folder)) if (!files.has(stray)) rmSync(join(folder, stray));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
}

/** What in `folder` is not as `files` say: one message a file, with the first line that differs. */
export function findDrift(folder: string, files: ReadonlyMap<string, string>): readonly string[] {
  const present = new Set(pagesIn(folder));
  const strays = [...present].filter((name) => !files.has(name)).map((name) => `${name}: its machine is gone`);
  const drifted = [...files].flatMap(([name, text]) => {
    if (!present.has(name)) return [`${name}: missing`];
    const difference = firstDifference(readFileSync(join(folder, name), 'utf8'), text);
    return difference === undefined ? [] : [`${name}${difference}`];
  });
  return [...strays, ...drifted];
}

function pagesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.md'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function firstDifference(written: string, wanted: string): string | undefined {
  if (written === wanted) return undefined;
  const [before, after] = [written.split('\n'), wanted.split('\n')];
  const line = after.findIndex((text, index) => text !== before[index]);
  const at = line === -1 ? after.length : line;
  return `:${at + 1}\n  - ${before[at] ?? '(end of file)'}\n  + ${after[at] ?? '(end of file)'}`;
}

/** `runtimeMachine` → `runtime`, `toolCallMachine` → `tool-call`. */
function nounOf(name: string): string {
  return name
    .slice(0, -'Machine'.length)
    .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    .replace(/^-/, '');
}
