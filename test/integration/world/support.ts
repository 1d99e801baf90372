/** A server with skills, as the SDK makes them, and what tests of worlds share. */
import { createHash } from 'node:crypto';
import { McpServer, ProtocolError } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { InMemoryServer, JsonObject } from '../../../src/index.ts';

/** What a server with skills serves, and what it was asked. Change it as a server would change. */
export interface SkillsPeer {
  readonly config: InMemoryServer;
  /** Every request about skills and resources, as `method uri`. */
  readonly asked: string[];
  /** Entries of `skills/list`. */
  skills: readonly unknown[];
  /** Entries only `skills/get` gives. */
  unlisted: readonly { readonly uri: string }[];
  /** Resources by uri. */
  readonly files: Map<string, string | Uint8Array>;
  ttlMs: number | undefined;
  listing: 'works' | 'fails' | 'hangs';
}

/** Makes one. */
export function skillsPeer(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: { readonly instructions?: string; readonly declares?: boolean; readonly pageSize?: number } = {},
): SkillsPeer {
  const { declares = true, instructions, pageSize = 100 } = options;
  const peer: SkillsPeer = {
    config: { inMemory: connectable },
    asked: [],
    skills: [],
    unlisted: [],
    files: new Map(Object.entries(files)),
    ttlMs: undefined,
    listing: 'works',
  };

  function connectable(): McpServer {
    const server = new McpServer(
      { name: 'skills', version: '1.0.0' },
      {
        capabilities: {
          resources: {},
          ...(declares ? { extensions: { 'io.modelcontextprotocol/skills': {} } } : {}),
        },
        ...(instructions === undefined ? {} : { instructions }),
      },
    );
    const params = z.looseObject({ uri: z.string().optional(), cursor: z.string().optional() });
    server.server.setRequestHandler('skills/list', { params }, async ({ cursor = '0' }) => {
      peer.asked.push('skills/list');
      if (peer.listing === 'hangs') await new Promise(() => undefined);
      if (peer.listing === 'fails') throw new ProtocolError(-32_603, 'The list is lost.');
      const from = Number(cursor);
      const next = from + pageSize;
      return {
        skills: peer.skills.slice(from, next),
        ...(next < peer.skills.length ? { nextCursor: String(next) } : {}),
        ...(peer.ttlMs === undefined ? {} : { ttlMs: peer.ttlMs, cacheScope: 'private' }),
      };
    });
    server.server.setRequestHandler('skills/get', { params }, ({ uri = '' }) => {
      peer.asked.push(`skills/get ${uri}`);
      const skill = peer.unlisted.find((each) => each.uri === uri);
      if (skill === undefined) throw new ProtocolError(-32_602, `No skill is served at ${uri}`);
      return { skill };
    });
    server.server.setRequestHandler('resources/read', ({ params: { uri } }) => {
      peer.asked.push(`resources/read ${uri}`);
      const content = peer.files.get(uri);
      if (content === undefined) throw new ProtocolError(-32_602, `Unknown resource: ${uri}`);
      return {
        contents: [
          typeof content === 'string'
            ? { uri, mimeType: 'text/markdown', text: content }
            : { uri, mimeType: 'image/png', blob: Buffer.from(content).toString('base64') },
        ],
      };
    });
    return server;
  }
  return peer;
}

/** The text of a `SKILL.md`. */
export function skillText(frontmatter: Readonly<Record<string, string>>, body = 'Do it well.'): string {
  const lines = Object.entries(frontmatter).map(([key, value]) => `${key}: ${value}`);
  return ['---', ...lines, '---', '', body, ''].join('\n');
}

/** The entry of a skill as an honest server lists it: its files are those of the peer below its directory. */
export function entryOf(peer: SkillsPeer, uri: string, frontmatter: JsonObject): { readonly uri: string } & JsonObject {
  const directory = uri.slice(0, -'SKILL.md'.length);
  const resources = [...peer.files].flatMap(([at, content]) => {
    if (!at.startsWith(directory)) return [];
    const bytes = Buffer.from(content);
    return [{ uri: at, size: bytes.length, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` }];
  });
  return { uri, frontmatter, resources };
}
