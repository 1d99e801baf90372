/** The `policy` and `limits` sections of `holdfast.json`. */
import { z } from 'zod';
import { approvalModes, type Limits, type Policy } from '../domain/config.ts';

const flag = z.boolean().exactOptional();
const count = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
  .exactOptional();

const elicitationSchema = z.object({
  autoDeny: flag,
  acceptEmptyForms: flag,
  forms: flag,
  urls: flag,
  approvals: flag,
  unattendedMs: count,
});

/** Checks a `policy` section. */
export const policySchema: z.ZodType<Policy> & { readonly shape: object } = z.object({
  approval: z.enum(approvalModes).exactOptional(),
  elicitation: elicitationSchema.exactOptional(),
  servers: z.record(z.string(), z.object({ elicitation: elicitationSchema.exactOptional() })).exactOptional(),
  trust: z.array(z.string()).exactOptional(),
});

/** Checks a `limits` section. */
export const limitsSchema: z.ZodType<Limits> & { readonly shape: object } = z.object({
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
});

/** Puts a later policy over an earlier one: single settings win, per-server settings add up. */
export function mergePolicy(earlier: Policy | undefined, later: Policy | undefined): Policy | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  return {
    ...earlier,
    ...later,
    ...(earlier.elicitation === undefined && later.elicitation === undefined
      ? {}
      : { elicitation: { ...earlier.elicitation, ...later.elicitation } }),
    ...(earlier.servers === undefined && later.servers === undefined
      ? {}
      : { servers: { ...earlier.servers, ...later.servers } }),
  };
}
