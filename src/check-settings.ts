/** Checks the policy and the limits a caller gives, to the last field: what is misspelt must not count as not set. */
import { type Check, flag, milliseconds, oneOf, texts } from './check-servers.ts';
import { approvalModes } from './domain/config.ts';
import type { ElicitationPolicy, Limits, Policy } from './domain/config.ts';
import { HoldfastError } from './domain/errors.ts';
import { isRecord, shown } from './domain/json.ts';
import { suggestion } from './domain/nearest.ts';

interface Shape {
  readonly [field: string]: Check | Shape;
}

const whole = (least: number, most = 2 ** 31 - 1): Check => {
  const wanted = `a whole number from ${String(least)} to ${String(most)}`;
  return (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most ? undefined : wanted;
};

const mode = oneOf(approvalModes);
const elicitation = {
  autoDeny: flag,
  acceptEmptyForms: flag,
  forms: flag,
  urls: flag,
  approvals: flag,
  unattendedMs: milliseconds,
  reviewerTimeoutMs: milliseconds,
} satisfies Readonly<Record<keyof ElicitationPolicy, Check>>;
const policyShape = {
  approval: mode,
  approvalOverride: mode,
  elicitation,
  servers: () => undefined,
  trust: texts,
} satisfies Readonly<Record<keyof Policy, Check | Shape>>;
const limitsShape = {
  readyTimeoutMs: milliseconds,
  callsPerThread: whole(1),
  callsPerServer: whole(1),
  maxToolNameLength: whole(16, 128),
  startGraceMs: whole(0),
  settledTokens: whole(0),
} satisfies Readonly<Record<keyof Limits, Check>>;

/**
 * Checks a policy, whose mistakes must not count as a policy that asks less.
 *
 * @throws HoldfastError `invalid_argument` for a field nobody knows, and for a value of the wrong kind.
 */
export function checkPolicy(policy: unknown): void {
  check(policy, policyShape, 'policy');
  const servers = isRecord(policy) ? policy['servers'] : undefined;
  if (servers === undefined) return;
  if (!isRecord(servers)) throw unexpected('policy.servers', 'an object', servers);
  for (const [name, entry] of Object.entries(servers)) check(entry, { elicitation }, `policy.servers.${name}`);
}

/** @throws HoldfastError `invalid_argument` for a field nobody knows, and for a limit that is no whole number within its bounds. */
export function checkLimits(limits: unknown): void {
  check(limits, limitsShape, 'limits');
}

function check(value: unknown, shape: Shape, name: string): void {
  if (!isRecord(value)) throw unexpected(name, 'an object', value);
  for (const [field, inner] of Object.entries(value)) {
    const path = `${name}.${field}`;
    const rule = Object.hasOwn(shape, field) ? shape[field] : undefined;
    if (rule === undefined)
      throw new HoldfastError(
        'invalid_argument',
        `Expected a field of ${name}, got "${path}". ${suggestion(field, Object.keys(shape))}`,
      );
    if (inner === undefined) continue;
    if (typeof rule !== 'function') check(inner, rule, path);
    else {
      const wanted = rule(inner);
      if (wanted !== undefined) throw unexpected(path, wanted, inner);
    }
  }
}

function unexpected(name: string, wanted: string, value: unknown): HoldfastError {
  return new HoldfastError(
    'invalid_argument',
    `Expected ${name} to be ${wanted}, got ${typeof value === 'number' ? String(value) : shown(value)}.`,
  );
}
