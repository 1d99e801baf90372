/** Where a plugin is, and the directories its servers may work in. Paths are read as its machine reads them, not as this one. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, posix, sep, win32 } from 'node:path';
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
 * With `contained` an absolute one must be inside the root too. On this machine, `isLocal`, links count for where they lead.
 */
export function placeCwd(
  cwd: string,
  root: PluginRoot,
  options: { readonly contained: boolean; readonly isLocal: boolean },
): PlacedCwd {
  const path = pathOf(cwd);
  if (path === undefined || path.includes('\0')) return { problem: 'expected a path or a file: url of this machine' };
  const { paths } = root;
  const isAbsolute = paths.isAbsolute(path);
  const placed = isAbsolute ? paths.normalize(path) : paths.join(root.path, path);
  if (isAbsolute && !options.contained) return { cwd: placed };
  const outside = (led: string): PlacedCwd => ({
    problem: `expected a directory inside the plugin ("${root.path}"), got "${placed}"${led}`,
  });
  if (!isInside(placed, root)) return outside('');
  if (!options.isLocal || paths.sep !== sep) return { cwd: placed };
  const real = realOf(placed);
  return isInside(real, { path: realOf(root.path), paths }) ? { cwd: placed } : outside(`, a link to "${real}"`);
}

function isInside(path: string, { path: root, paths }: PluginRoot): boolean {
  const way = paths.relative(root, path);
  return way !== '..' && !way.startsWith(`..${paths.sep}`) && !paths.isAbsolute(way);
}

/** Where a path leads as far as it exists. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOf(parent), basename(path));
  }
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
