/** Where a path leads, link by link: every place at which a change may make it another file. */
import { lstat, readlink, stat } from 'node:fs/promises';
import { join, parse, resolve, sep } from 'node:path';

/** An entry of a directory. The directory is free of links; the entry itself may be a link, a file, or not there. */
export interface TrailEntry {
  readonly directory: string;
  /** Another one when the directory was made anew. */
  readonly device: string;
  readonly name: string;
}

/** As many links as systems follow. */
const maxLinks = 40;

/**
 * The entries to watch for one file, the links on the way to it included.
 *
 * Where something is missing, or links go round in a circle, the trail ends there. Never rejects.
 */
export async function trailOf(file: string): Promise<readonly TrailEntry[]> {
  const entries: TrailEntry[] = [];
  let links = 0;
  const { root } = parse(resolve(file));
  let directory = root;
  let rest = partsOf(resolve(file));
  while (rest.length > 0) {
    const [name = '', ...further] = rest;
    const found = await kindOf(directory, name);
    if (found.kind === 'missing' || found.kind === 'link' || further.length === 0)
      entries.push({ directory, device: await deviceOf(directory), name });
    if (found.kind === 'missing') break;
    if (found.kind === 'plain') {
      directory = join(directory, name);
      rest = further;
      continue;
    }
    links += 1;
    if (links > maxLinks) break;
    const target = resolve(directory, found.target);
    directory = parse(target).root;
    rest = [...partsOf(target), ...further];
  }
  return entries;
}

type Found =
  { readonly kind: 'missing' } | { readonly kind: 'plain' } | { readonly kind: 'link'; readonly target: string };

async function kindOf(directory: string, name: string): Promise<Found> {
  const path = join(directory, name);
  try {
    const stats = await lstat(path);
    return stats.isSymbolicLink() ? { kind: 'link', target: await readlink(path) } : { kind: 'plain' };
  } catch {
    return { kind: 'missing' };
  }
}

async function deviceOf(directory: string): Promise<string> {
  try {
    const { dev, ino } = await stat(directory, { bigint: true });
    return `${String(dev)}:${String(ino)}`;
  } catch {
    return 'missing';
  }
}

function partsOf(path: string): readonly string[] {
  const { root } = parse(path);
  return path
    .slice(root.length)
    .split(sep)
    .filter((part) => part !== '');
}
