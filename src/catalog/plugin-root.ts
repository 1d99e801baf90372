/** Where a plugin is, and the directories its servers may work in. Paths are read as its machine reads them, not as this one. */
import { posix, win32 } from 'node:path';
import type { PlatformPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HoldfastError } from '../domain/errors.ts';

/** The directory of a plugin, and the kind of paths of the machine it is on. */
export interface PluginRoot {
  readonly path: string;
  readonly paths: PlatformPath;
}

/** A directory, or why there is none. */
export type PlacedCwd = { readonly cwd: string } | { readonly problem: string };

/**
 * Reads a root: an absolute POSIX or Windows path, or a `file:` url.
 *
 * @throws HoldfastError `invalid_argument`
 */
export function pluginRoot(root: string): PluginRoot {
  const path = pathOf(root);
  const paths = path === undefined ? undefined : kindOf(path);
  if (path === undefined || paths === undefined || path.includes('\0'))
    throw new HoldfastError(
      'invalid_argument',
      `Expected the root of a plugin as an absolute path or a file: url, got ${JSON.stringify(root)}.`,
    );
  return { path: paths.normalize(path), paths };
}

/**
 * Puts a server's directory where it belongs: a relative one below the root, and never out of it again.
 *
 * With `contained` an absolute one must be inside the root too.
 */
export function placeCwd(cwd: string, root: PluginRoot, options: { readonly contained: boolean }): PlacedCwd {
  const path = pathOf(cwd);
  if (path === undefined || path.includes('\0')) return { problem: 'expected a path or a file: url of this machine' };
  const { paths } = root;
  const isAbsolute = paths.isAbsolute(path);
  const placed = isAbsolute ? paths.normalize(path) : paths.join(root.path, path);
  if ((isAbsolute && !options.contained) || isInside(placed, root)) return { cwd: placed };
  return { problem: `expected a directory inside the plugin ("${root.path}"), got "${placed}"` };
}

function isInside(path: string, { path: root, paths }: PluginRoot): boolean {
  const way = paths.relative(root, path);
  return way !== '..' && !way.startsWith(`..${paths.sep}`) && !paths.isAbsolute(way);
}

function kindOf(path: string): PlatformPath | undefined {
  if (posix.isAbsolute(path)) return posix;
  return /^(?:[A-Za-z]:[\\/]|\\\\)/.test(path) ? win32 : undefined;
}

function pathOf(text: string): string | undefined {
  if (!/^file:/i.test(text)) return text;
  try {
    const { hostname, pathname } = new URL(text);
    return fileURLToPath(text, { windows: hostname !== '' || /^\/[A-Za-z]:/.test(pathname) });
  } catch {
    return undefined;
  }
}
