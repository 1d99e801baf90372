/** Whether a call is put to the person before it is sent (SPEC PO-1). */
import type { ApprovalMode, Policy, ServerConfig } from './config.ts';
import type { ToolAnnotations } from './tool.ts';

/**
 * Decides whether a call needs approval.
 *
 * `auto` asks for what says it is destructive, not for what says it only reads, and else unless the tool says that it is
 * neither destructive nor open-world: a hint left out counts as MCP's default, which is yes for both. `writes` asks
 * for all that does not say it only reads. A mode that is none asks, like `prompt`.
 */
export function needsApproval(mode: ApprovalMode, annotations?: ToolAnnotations): boolean {
  if (mode === 'approve') return false;
  if (mode === 'writes') return annotations?.readOnlyHint !== true;
  if (mode === 'auto') {
    if (annotations?.destructiveHint === true) return true;
    if (annotations?.readOnlyHint === true) return false;
    return annotations?.destructiveHint !== false || annotations.openWorldHint !== false;
  }
  // `prompt`, and whatever a caller without types says.
  return true;
}

/**
 * The mode that holds for a tool, by its raw name: the policy's override, else the tool's own, else its server's, else the
 * thread's, else `fallback`.
 */
export function approvalMode(
  policy: Policy | undefined,
  config: ServerConfig,
  rawTool: string,
  fallback: ApprovalMode,
): ApprovalMode {
  if (policy?.approvalOverride !== undefined) return policy.approvalOverride;
  const perTool = config.tools?.perTool;
  const own = perTool !== undefined && Object.hasOwn(perTool, rawTool) ? perTool[rawTool]?.approval : undefined;
  return own ?? config.approval ?? policy?.approval ?? fallback;
}
