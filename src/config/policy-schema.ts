/** The `policy` and `limits` sections of `holdfast.json`. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { approvalModes, type Limits, type Policy } from '../domain/config.ts';
import { isRecord } from '../domain/json.ts';
import { nearest } from '../domain/nearest.ts';
import { describeIssue, issueInWords } from './issue-words.ts';
import { beyond, toIssues } from './server-schema.ts';

const flag = z.boolean().exactOptional();
const count = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
  .exactOptional();

const elicitationFields = {
  autoDeny: flag,
  acceptEmptyForms: flag,
  forms: flag,
  urls: flag,
  approvals: flag,
  unattendedMs: count,
  reviewerTimeoutMs: count,
};
const limitFields = {
  readyTimeoutMs: count,
  callsPerThread: count,
  callsPerServer: count,
  maxToolNameLength: z.int().min(16).max(128).exactOptional(),
  startGraceMs: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .exactOptional(),
  settledTokens: count,
};
const ownFields = { approval: z.enum(approvalModes).exactOptional(), trust: z.array(z.string()).exactOptional() };

const elicitationSchema = z.object(elicitationFields).exactOptional();
const policyFields = {
  ...ownFields,
  elicitation: elicitationSchema,
  servers: z.record(z.string(), z.object({ elicitation: elicitationSchema })).exactOptional(),
};

/** Checks a `policy` section. */
export const policySchema: z.ZodType<Policy> = z.object(policyFields);
/** Checks a `limits` section. */
export const limitsSchema: z.ZodType<Limits> = z.object(limitFields);

const keptElicitation = z.looseObject(elicitationFields).exactOptional();

/** As {@link policySchema}, and keeps what nobody here knows. */
export const keptPolicySchema: z.ZodType<Policy> = z.looseObject({
  ...ownFields,
  elicitation: keptElicitation,
  servers: z.record(z.string(), z.looseObject({ elicitation: keptElicitation })).exactOptional(),
});
/** As {@link limitsSchema}, and keeps what nobody here knows. */
export const keptLimitsSchema: z.ZodType<Limits> = z.looseObject(limitFields);

/** A key in `policy` or `limits` that nobody here knows, and the one that may be meant. */
export interface UnknownSetting {
  readonly path: string;
  readonly meant: string | undefined;
}

/** The keys of the sections of a document that nobody here knows, at any depth. */
export function unknownSettings(root: Readonly<Record<string, unknown>>): readonly UnknownSetting[] {
  const { policy, limits } = root;
  const { elicitation, servers } = isRecord(policy) ? policy : {};
  return [
    ...unknownIn(policy, policyFields, 'policy.'),
    ...unknownIn(elicitation, elicitationFields, 'policy.elicitation.'),
    ...Object.entries(isRecord(servers) ? servers : {}).flatMap(([name, entry]) => [
      ...unknownIn(entry, { elicitation: 0 }, `policy.servers.${name}.`),
      ...unknownIn(
        isRecord(entry) ? entry['elicitation'] : undefined,
        elicitationFields,
        `policy.servers.${name}.elicitation.`,
      ),
    ]),
    ...unknownIn(limits, limitFields, 'limits.'),
  ];
}

function unknownIn(value: unknown, fields: object, prefix: string): readonly UnknownSetting[] {
  return beyond(value, fields, '').map(([key]) => {
    const meant = nearest(key, Object.keys(fields));
    return { path: prefix + key, meant: meant === undefined ? undefined : prefix + meant };
  });
}

/** Names them, and those that may be meant. `fate` says what becomes of them. */
export function describeUnknown(unknown: readonly UnknownSetting[], fate: string): string {
  const meant = [...new Set(unknown.flatMap((each) => each.meant ?? []))];
  return `nothing here knows ${quoted(unknown.map(({ path }) => path))}. ${fate}${meant.length === 0 ? '' : ` Did you mean ${quoted(meant)}?`}`;
}

function quoted(names: readonly string[]): string {
  return names.map((key) => `"${key}"`).join(', ');
}

/** What limits come to where some cannot be understood: those that can, and what is wrong with the others. */
export function limitsOf(
  value: unknown,
  schema: typeof limitsSchema,
): { readonly limits: Limits; readonly problem?: string } {
  const parsed = schema.safeParse(value, { error: issueInWords });
  if (parsed.success) return { limits: parsed.data };
  const bad = new Set(parsed.error.issues.map((issue) => issue.path[0]));
  const again = schema.safeParse(
    Object.fromEntries(Object.entries(isRecord(value) ? value : {}).filter(([key]) => !bad.has(key))),
  );
  return {
    limits: again.success ? again.data : {},
    problem: `in "limits", ${toIssues(parsed.error).map(describeIssue).join('; ')}. The default is used for each.`,
  };
}

/** Policies and limits of files, put together in order: a later one wins by setting, and it is told where it differs. */
export class SettingsMerge {
  policy: Policy | undefined;
  limits: Limits | undefined;
  readonly #set = new Map<string, { readonly file: string; readonly value: unknown }>();

  /** @returns what to tell of settings that had another value before. */
  add(file: string, sections: { readonly policy?: Policy; readonly limits?: Limits }): readonly string[] {
    const { policy, limits } = sections;
    if (policy !== undefined) this.policy = mergePolicy(this.policy, policy);
    if (limits !== undefined) this.limits = { ...this.limits, ...limits };
    return leavesOf(sections, '').flatMap(([path, value]) => {
      const before = this.#set.get(path);
      this.#set.set(path, { file, value });
      return before === undefined || isDeepStrictEqual(before.value, value)
        ? []
        : [`"${path}" is in "${before.file}" and, with another value, in "${file}". The one in "${file}" is used.`];
    });
  }
}

function leavesOf(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (!isRecord(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`));
}

/** Puts a later policy over an earlier one, setting by setting. */
function mergePolicy(earlier: Policy | undefined, later: Policy): Policy {
  if (earlier === undefined) return later;
  const elicitation = { ...earlier.elicitation, ...later.elicitation };
  const servers = new Map(Object.entries(earlier.servers ?? {}));
  for (const [name, entry] of Object.entries(later.servers ?? {})) {
    const before = servers.get(name);
    const both = { ...before?.elicitation, ...entry.elicitation };
    servers.set(name, { ...before, ...entry, ...(Object.keys(both).length === 0 ? {} : { elicitation: both }) });
  }
  return {
    ...earlier,
    ...later,
    ...(earlier.elicitation === undefined && later.elicitation === undefined ? {} : { elicitation }),
    ...(earlier.servers === undefined && later.servers === undefined ? {} : { servers: Object.fromEntries(servers) }),
  };
}
