import { createThread } from 'holdfast';

await using thread = createThread({
  servers: { everything: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'] } },
});
thread.elicitations$.subscribe(([question]) => {
  if (question === undefined) return;
  console.log(`${question.server} asks: ${question.message}`);
  void thread.respond(question.token, { action: 'accept', content: { name: 'Ada' } });
});

const step = await thread.beginStep();
console.log(`${step.tools.length} tools in runtime ${step.generation}`);
const result = await step.callTool('mcp__everything__trigger-elicitation-request');
console.log(result.content);
