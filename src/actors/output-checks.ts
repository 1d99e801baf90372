/** Holds results of tools that say what they return until they are checked (SPEC NM-4). */
import type { Failure } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { OutputRule } from '../mcp/tool-view.ts';
import type { Facts } from './facts.ts';

/** How many schemas that cannot be used are told of, each once. */
const maxTold = 1_000;

export class OutputChecks {
  readonly #facts: Facts;
  readonly #told = new Set<string>();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** Resolves with what is wrong with a successful result, if anything is. Never rejects. */
  async check(rule: OutputRule, result: JsonObject): Promise<Failure | undefined> {
    const value = result['structuredContent'];
    if (value === undefined)
      return wrong(rule, result, 'no "structuredContent", and the tool declares an "outputSchema" for it');
    const { checkOutput } = await import('../mcp/output-check.ts');
    const verdict = checkOutput(rule.fingerprint, rule.schema, value);
    switch (verdict.kind) {
      case 'fits':
        return undefined;
      case 'unchecked':
        this.#tell(rule, verdict.why);
        return undefined;
      case 'wrong':
        return wrong(rule, result, `one that does not fit the tool's "outputSchema": ${verdict.why}`);
    }
  }

  #tell({ server, tool, fingerprint }: OutputRule, why: string): void {
    if (this.#told.has(fingerprint) || this.#told.size >= maxTold) return;
    this.#told.add(fingerprint);
    this.#facts.warn(
      'output_unchecked',
      `Server "${server}": results of tool "${tool}" are passed on unchecked, because its "outputSchema" cannot be used: ${why}`,
      server,
    );
  }
}

function wrong({ server, tool }: OutputRule, result: JsonObject, got: string): Failure {
  const message = `Expected the result of tool "${tool}" of server "${server}" to be as the tool declares, got ${got}. This is a fault of the server; the result is in the issues.`;
  return {
    code: 'invalid_result',
    message,
    retryable: false,
    outcome: 'failed',
    issues: [
      { path: '/structuredContent', message: `Expected what "outputSchema" says, got ${got}.` },
      { path: '', message: 'The result as the server sent it is the value of this issue.', value: result },
    ],
  };
}
