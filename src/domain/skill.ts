/** Skills: instructions a model loads when it needs them (SPEC WS-2). */
import type { JsonObject } from './json.ts';

/** Who brings a skill: a server, a plugin in an environment, or an extension. */
export type SkillOrigin =
  | { readonly kind: 'server'; readonly server: string }
  | { readonly kind: 'environment'; readonly environment: string; readonly plugin: string }
  | { readonly kind: 'extension'; readonly extension: string };

/** A server a skill says it needs. Nothing is installed or started for it: the host asks the person. */
export interface SkillNeed {
  /** What the skill calls it. */
  readonly server: string;
  /** The same for every skill that needs the same: `mcp__stdio__COMMAND`, `mcp__streamable_http__URL` or `mcp__NAME`. */
  readonly key: string;
  /** Whether the step's runtime names such a server. */
  readonly available: boolean;
  readonly command?: string;
  readonly url?: string;
}

/** A skill a step can load. */
export interface SkillInfo {
  /** Unique in its step: origin and path. The same in every step, whatever other skills come and go. */
  readonly id: string;
  /** A label: skills of different origins may share it, and none hides another. */
  readonly name: string;
  readonly description: string;
  readonly origin: SkillOrigin;
  /** Its `SKILL.md`: a resource of its server, or a path in its environment. */
  readonly uri?: string;
  /** Everything its `SKILL.md` says of it, as JSON. Nothing in it grants anything. */
  readonly frontmatter: JsonObject;
  /** `digest`: what is loaded is checked against the size and digest its server listed. */
  readonly integrity: 'digest' | 'none';
  /** The files beside `SKILL.md`, relative to it; absent where they are not known before they are asked for. */
  readonly files?: readonly string[];
  readonly needs?: readonly SkillNeed[];
}

/** A skill named by its server and the uri of its `SKILL.md`, for those no list mentions. */
export interface SkillAddress {
  /** The raw name of the server. */
  readonly server: string;
  readonly uri: string;
}

/** One file of a skill. Untrusted text of its origin, as any a server sends: show the model where it is from. */
export interface SkillContent {
  readonly skill: SkillInfo;
  /** `SKILL.md`, or the path that was asked for. */
  readonly file: string;
  readonly mimeType?: string;
  readonly text?: string;
  /** Base64, where the file is no text. */
  readonly blob?: string;
}
