/**
 * Which servers may run (SPEC CA-8).
 *
 * What cannot be decided is not allowed: a url that is none, a pattern that is too long, too costly or malformed.
 * Servers that code gives as objects (`inMemory`, `transport`) are the host's own and are not limited.
 */
import type { DisabledReason, ServerRequirements, ServerRule, TextRule } from '../domain/catalog.ts';
import type { ServerConfig } from '../domain/config.ts';
import { matchesPattern } from '../domain/text-pattern.ts';

/** What identifies a server to a requirement: its exact command, or its url. `undefined` for servers given as objects. */
export function identityOfServer(
  config: ServerConfig,
): { readonly command: string } | { readonly url: string } | undefined {
  if ('command' in config) return { command: config.command };
  return 'url' in config ? { url: config.url } : undefined;
}

/** Tells whether every requirement has a rule that allows the server. */
export function isAllowed(name: string, config: ServerConfig, requirements: readonly ServerRequirements[]): boolean {
  return requirementAgainst(name, config, requirements) === undefined;
}

/** The first requirement that does not allow the server, as the reason it is off. */
export function requirementAgainst(
  name: string,
  config: ServerConfig,
  requirements: readonly ServerRequirements[],
): DisabledReason | undefined {
  if (identityOfServer(config) === undefined) return undefined;
  const against = requirements.find(({ allow }) => !allow.some((rule) => allows(rule, name, config)));
  return against === undefined ? undefined : { kind: 'requirements', source: against.source };
}

function allows(rule: ServerRule, name: string, config: ServerConfig): boolean {
  if (rule.name !== undefined && rule.name !== name) return false;
  if ('url' in rule) return 'url' in config && matchesUrl(rule.url, config.url);
  if (!('command' in config) || config.command !== rule.command) return false;
  const { args } = rule;
  if (args === undefined) return true;
  const given = config.args ?? [];
  return given.length === args.length && args.every((each, index) => matchesText(each, given[index]));
}

function matchesText(rule: TextRule, text: string | undefined): boolean {
  if (text === undefined) return false;
  if (typeof rule === 'string') return text === rule;
  if ('exact' in rule) return text === rule.exact;
  if ('prefix' in rule) return text.startsWith(rule.prefix);
  return matchesWhole(rule.pattern, text);
}

/** The pattern must stand on its own: one that is only valid inside brackets could end them. */
function matchesWhole(pattern: string, text: string): boolean {
  return matchesPattern(pattern, '') !== undefined && matchesPattern(`^(?:${pattern})$`, text) === true;
}

/**
 * Urls are compared as they are connected to: lower-case host, default port left out, no `..`.
 *
 * A prefix that is itself a url must have the same origin, so that `https://a.example` does not allow
 * `https://a.example.evil`, nor `https://a.example@evil`.
 */
function matchesUrl(rule: TextRule, text: string): boolean {
  const url = parseUrl(text);
  if (url === undefined) return false;
  if (typeof rule === 'string') return isSameUrl(rule, url);
  if ('exact' in rule) return isSameUrl(rule.exact, url);
  if ('prefix' in rule) return beginsWith(rule.prefix, url);
  return spellingsOf(url).some((spelling) => matchesWhole(rule.pattern, spelling));
}

function isSameUrl(expected: string, url: URL): boolean {
  return parseUrl(expected)?.href === url.href;
}

function beginsWith(prefix: string, url: URL): boolean {
  const parsed = parseUrl(prefix);
  if (parsed === undefined) return prefix !== '' && url.href.startsWith(prefix);
  return parsed.origin === url.origin && url.href.startsWith(parsed.href);
}

/** A url without a path has two spellings; both are the same url. */
function spellingsOf({ href, origin, pathname }: URL): readonly string[] {
  return href === `${origin}/` && pathname === '/' ? [href, origin] : [href];
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
