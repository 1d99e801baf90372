/**
 * Failed results that say their tool needs the person to sign in somewhere: read by the host, put as a url question, and the
 * call made once more after a yes (SPEC AU-3).
 */
import type { Clock } from '../api.ts';
import type { SignInReader } from '../domain/authorization.ts';
import { messageOf } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolResult } from '../domain/tool.ts';
import type { CallRecord } from './call-record.ts';
import type { Calls } from './calls.ts';
import type { Facts } from './facts.ts';
import type { Questions } from './questions.ts';
import type { Servers } from './servers.ts';

export interface ResultSignInPorts {
  readonly clock: Clock;
  readonly facts: Facts;
  readonly servers: Servers;
  readonly calls: Pick<Calls, 'record'>;
  readonly questions: Pick<Questions, 'signIn' | 'whenSettled'>;
  readonly signInFor: SignInReader;
}

/** Calls somebody was asked to sign in for: their next result is what it is. */
const asked = new WeakSet<CallRecord>();

/** Puts the sign-in a result asks for, or lets the call end with any other. */
export function readFailedResult(ports: ResultSignInPorts, record: CallRecord, result: JsonObject): void {
  // It may have ended meanwhile.
  if (ports.calls.record(record.input.call) !== record || asksToSignIn(ports, record, result)) return;
  record.ref?.send({ type: 'call.completed', result });
}

function asksToSignIn(ports: ResultSignInPorts, record: CallRecord, result: JsonObject): boolean {
  const { connection, input, ref } = record;
  const { server, generation } = input;
  const info = ports.servers.view(generation).routes.get(input.name)?.info;
  if (info === undefined || connection === undefined || asked.has(record)) return false;
  try {
    const wanted = ports.signInFor(toolResultOf(result), info);
    if (wanted === undefined) return false;
    const params = { mode: 'url', url: wanted.url, message: wanted.message };
    const question = ports.questions.signIn(server, params, { attribution: 'call', generation, input });
    if (typeof question === 'string') throw new Error(question);
    asked.add(record);
    ports.questions.whenSettled(question.elicitation.token, ({ outcome }) => {
      if (outcome === 'accepted') connection.relist?.();
    });
    ref?.send({ type: 'call.authorizationRequired', questions: [question], at: ports.clock.now() });
    return true;
  } catch (error) {
    const message = `signInFor failed for a result of "${input.name}": ${messageOf(error)} The result is given as it is.`;
    ports.facts.warn('sign_in_reader_failed', message, server);
    return false;
  }
}

function toolResultOf(result: unknown): ToolResult {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its content was checked as it arrived
  return result as ToolResult;
}
