import { expect, test } from 'vitest';
import type { ApprovedTool } from '../../src/domain/approval-memory.ts';
import { toolChanges } from '../../src/domain/tool-changes.ts';

const tool: ApprovedTool = {
  name: 'note',
  fingerprint: 'f1',
  origin: 'stdio',
  description: 'Adds a note.',
  annotations: { title: 'Note', openWorldHint: false },
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

test('PO-3 a tool that is the same in another order of keys has not changed', () => {
  const { type, properties } = tool.inputSchema;
  const other = {
    ...tool,
    annotations: { openWorldHint: false, title: 'Note' },
    inputSchema: { properties, type },
  };
  expect(toolChanges(tool, other)).toEqual([]);
});

test('PO-3 every part that changed is named, with what it was and what it is', () => {
  const { annotations, ...rest } = tool;
  const after: ApprovedTool = {
    ...rest,
    origin: 'https://example.com',
    title: 'Noted',
    description: 'Adds a note!',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
  };
  expect(toolChanges(tool, after)).toEqual([
    { field: 'origin', before: 'stdio', after: 'https://example.com' },
    { field: 'title', before: null, after: 'Noted' },
    { field: 'description', before: 'Adds a note.', after: 'Adds a note!' },
    { field: 'annotations', before: annotations, after: null },
    { field: 'inputSchema', before: tool.inputSchema, after: { type: 'object' } },
    { field: 'outputSchema', before: null, after: { type: 'object' } },
  ]);
});

test('PO-3 of a long text the place is shown where the two part', () => {
  const long = 'a'.repeat(1_000_000);
  const [change] = toolChanges(
    { ...tool, description: `${long} harmless ${long}` },
    { ...tool, description: `${long} harmful ${long}` },
  );
  expect(change?.before).toMatch(/^…a+ harmless a+…$/);
  expect(change?.after).toMatch(/^…a+ harmful a+…$/);
  expect(JSON.stringify(change).length).toBeLessThan(5_000);
});
