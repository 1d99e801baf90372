/** What the client does in each scenario of the official conformance suite. */
import { authorizationScenarios } from './authorization.ts';
import { serverName } from './peer.ts';
import type { Conversation, Peer, Scenario } from './peer.ts';
import { skillScenarios } from './skills.ts';
import { contextOf, expectThat, isObject, objectsOf, textsOf } from './values.ts';

/** The scenarios by the names the suite gives them. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  initialize: connect,
  tools_call: talking(async ({ call }) => {
    await call('add_numbers', { a: 2, b: 3 });
  }),
  'elicitation-sep1034-client-defaults': talking(async ({ call }) => {
    await call('test_client_elicitation_defaults');
  }),
  'sse-retry': talking(async ({ call }) => {
    await call('test_reconnection');
  }),
  'request-metadata': connect,
  'sep-2322-client-request-state': playRequestState,
  'http-standard-headers': talking(useEverything),
  'http-custom-headers': playCustomHeaders,
  'http-invalid-tool-headers': talking(callEveryTool),
  'json-schema-ref-no-deref': talking(async ({ thread, step }) => {
    await thread.listTools(serverName);
    expectThat(step.tools.length === 1, 'the tool with the foreign reference is offered');
  }),
  'json-schema-2020-12-preservation': talking(echoSchema),
  ...authorizationScenarios,
  ...skillScenarios,
};

function talking(talk: (conversation: Conversation) => Promise<void>): Scenario {
  return (peer) => peer.converse(talk);
}

async function connect(peer: Peer): Promise<void> {
  await peer.converse(({ thread }) => thread.ready());
}

async function playRequestState(peer: Peer): Promise<void> {
  await peer.converse(
    async ({ step, call }) => {
      const echo = call('test_mrtr_echo_state');
      await Promise.all([echo, call('test_mrtr_unrelated')]);
      await call('test_mrtr_no_state');
      // Its result has no resultType, which means complete.
      await call('test_mrtr_no_result_type');
      expectThat(step.tools.length === 4, 'the step offers four tools');
    },
    { person: () => ({ action: 'accept', content: { confirmed: true } }) },
  );
}

async function useEverything({ thread, step, call }: Conversation): Promise<void> {
  for (const { tool } of step.tools) await call(tool);
  const { resources } = await thread.listResources(serverName);
  for (const uri of textsOf(resources, 'uri')) await step.readResource(serverName, uri);
  const { prompts } = await thread.listPrompts(serverName);
  for (const name of textsOf(prompts, 'name')) await step.getPrompt(serverName, name);
}

async function playCustomHeaders(peer: Peer): Promise<void> {
  const { toolCalls } = contextOf(peer);
  await peer.converse(async ({ call }) => {
    for (const wanted of objectsOf(toolCalls)) {
      const { name, arguments: args } = wanted;
      if (typeof name === 'string') await call(name, isObject(args) ? args : {});
    }
  });
}

/** A tool whose header annotations are invalid must not even be offered. */
async function callEveryTool({ step, call }: Conversation): Promise<void> {
  for (const { tool } of step.tools) await call(tool, { region: 'us-west1' });
}

async function echoSchema({ step, call }: Conversation): Promise<void> {
  const tool = step.tools.find((candidate) => candidate.tool === 'json_schema_2020_12_tool');
  if (tool === undefined) throw new Error('Expected the tool "json_schema_2020_12_tool" to be offered.');
  await call('json_schema_echo', { schema: tool.inputSchema });
}
