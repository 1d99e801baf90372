/** What Tab may offer for the arguments of commands: tools, their arguments, files. */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ToolInfo } from '../../index.ts';
import { isObject } from '../values.ts';
import { findTool } from './foreground-call.ts';

/** Names of tools; after one, the names of its arguments that are not given yet. */
export function completeCall(
  { tools }: { readonly tools: readonly ToolInfo[] },
  [name, ...given]: readonly string[],
): readonly string[] {
  if (name === undefined) return toolNames(tools);
  const tool = toolOf(tools, name);
  const properties = tool?.inputSchema['properties'];
  if (!isObject(properties)) return [];
  const names = Object.keys(properties).map((key) => `${key}=`);
  return names.filter((key) => !given.some((word) => word.startsWith(key)));
}

/** Files and directories whose path starts with what was typed. */
export function completeFile(directory: string, word: string): readonly string[] {
  const path = word.slice(0, word.lastIndexOf('/') + 1);
  try {
    return readdirSync(resolve(directory, path), { withFileTypes: true }).map(
      (entry) => `${path}${entry.name}${entry.isDirectory() ? '/' : ''}`,
    );
  } catch {
    // What cannot be listed has nothing to offer.
    return [];
  }
}

/** Every way to name a tool; its raw name only where no other tool has it. */
function toolNames(tools: readonly ToolInfo[]): readonly string[] {
  const isUnique = ({ tool }: ToolInfo) => tools.filter((other) => other.tool === tool).length === 1;
  return tools.flatMap((tool) => [
    ...new Set([tool.name, `${tool.server}/${tool.tool}`, ...(isUnique(tool) ? [tool.tool] : [])]),
  ]);
}

function toolOf(tools: readonly ToolInfo[], name: string): ToolInfo | undefined {
  try {
    return findTool(tools, name);
  } catch {
    return undefined;
  }
}
