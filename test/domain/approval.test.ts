import { expect, test } from 'vitest';
import { approvalMode, needsApproval } from '../../src/domain/approval.ts';
import type { ApprovalMode, ServerConfig } from '../../src/domain/config.ts';
import { approvalModes } from '../../src/domain/config.ts';
import type { ToolAnnotations } from '../../src/domain/tool.ts';

const hints = [undefined, true, false] as const;

/** Every combination of the three hints that matter, and no annotations at all. */
const combinations: readonly (ToolAnnotations | undefined)[] = [
  undefined,
  ...hints.flatMap((readOnly) =>
    hints.flatMap((destructive) =>
      hints.map((openWorld) => ({
        ...(readOnly === undefined ? {} : { readOnlyHint: readOnly }),
        ...(destructive === undefined ? {} : { destructiveHint: destructive }),
        ...(openWorld === undefined ? {} : { openWorldHint: openWorld }),
      })),
    ),
  ),
];

test('PO-1 prompt always asks and approve never does', () => {
  for (const annotations of combinations) {
    expect(needsApproval('prompt', annotations)).toBe(true);
    expect(needsApproval('approve', annotations)).toBe(false);
  }
});

test('PO-1 writes asks unless the tool only reads', () => {
  for (const annotations of combinations)
    expect(needsApproval('writes', annotations)).toBe(annotations?.readOnlyHint !== true);
});

test.each<[ToolAnnotations | undefined, boolean]>([
  [undefined, true],
  [{}, true],
  [{ title: 'x', idempotentHint: true }, true],
  [{ readOnlyHint: true }, false],
  [{ readOnlyHint: true, openWorldHint: true }, false],
  [{ readOnlyHint: true, destructiveHint: true }, true],
  [{ readOnlyHint: true, destructiveHint: false }, false],
  [{ readOnlyHint: false }, true],
  [{ destructiveHint: true }, true],
  [{ destructiveHint: true, openWorldHint: false }, true],
  [{ destructiveHint: false }, true],
  [{ destructiveHint: false, openWorldHint: true }, true],
  [{ destructiveHint: false, openWorldHint: false }, false],
  [{ openWorldHint: false }, true],
])('PO-1 auto with %j asks: %s', (annotations, asks) => {
  expect(needsApproval('auto', annotations)).toBe(asks);
});

test('PO-1 auto asks for everything destructive and for nothing else that only reads', () => {
  const destructive = combinations.filter((annotations) => annotations?.destructiveHint === true);
  const reading = combinations.filter(
    (annotations) => annotations?.readOnlyHint === true && annotations.destructiveHint !== true,
  );
  expect([destructive.length, reading.length]).toEqual([9, 6]);
  expect(destructive.every((annotations) => needsApproval('auto', annotations))).toBe(true);
  expect(reading.some((annotations) => needsApproval('auto', annotations))).toBe(false);
});

test('PO-1 the tool goes before its server, the server before the thread, the thread before the fallback', () => {
  const maybe: readonly (ApprovalMode | undefined)[] = [undefined, ...approvalModes];
  for (const tool of maybe) {
    for (const server of maybe) {
      for (const thread of maybe) {
        const config: ServerConfig = {
          command: 'x',
          ...(server === undefined ? {} : { approval: server }),
          tools: {
            perTool: { 'delete.all': tool === undefined ? {} : { approval: tool }, other: { approval: 'prompt' } },
          },
        };
        const policy = thread === undefined ? {} : { approval: thread };
        expect(approvalMode(policy, config, 'delete.all', 'auto')).toBe(tool ?? server ?? thread ?? 'auto');
      }
    }
  }
});

test('PO-1 without any setting the fallback holds, also for names every object has', () => {
  expect(approvalMode(undefined, { command: 'x' }, 'a', 'approve')).toBe('approve');
  expect(approvalMode({}, { command: 'x', tools: { perTool: {} } }, 'constructor', 'writes')).toBe('writes');
  expect(approvalMode({}, { command: 'x', tools: { perTool: {} } }, '__proto__', 'writes')).toBe('writes');
});

test('PO-1 a mode that is none asks for every call', () => {
  for (const annotations of combinations) expect(needsApproval('aprove' as never, annotations)).toBe(true);
});

test('PO-1 an override goes before all of them', () => {
  const config: ServerConfig = {
    command: 'x',
    approval: 'approve',
    tools: { perTool: { a: { approval: 'approve' } } },
  };
  expect(approvalMode({ approvalOverride: 'prompt', approval: 'writes' }, config, 'a', 'auto')).toBe('prompt');
});
