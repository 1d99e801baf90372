/** A wire listener that keeps what it hears, and lets a test wait for it. */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import type { HoldfastError } from '../../../src/domain/errors.ts';
import type { WireListener } from '../../../src/mcp/transports/transport.ts';

export interface Heard {
  readonly messages: { message: JSONRPCMessage; requestId?: RequestId }[];
  readonly failed: { id: RequestId; error: HoldfastError }[];
  readonly warnings: { code: string; message: string }[];
  readonly closed: HoldfastError[];
}

export class Recorder implements WireListener {
  readonly heard: Heard = { messages: [], failed: [], warnings: [], closed: [] };
  #waiting: (() => void)[] = [];

  onMessage(message: JSONRPCMessage, requestId?: RequestId): void {
    this.heard.messages.push({ message, ...(requestId === undefined ? {} : { requestId }) });
    this.#wake();
  }

  onRequestFailed(id: RequestId, error: HoldfastError): void {
    this.heard.failed.push({ id, error });
    this.#wake();
  }

  onWarning(code: string, message: string): void {
    this.heard.warnings.push({ code, message });
    this.#wake();
  }

  onClosed(error: HoldfastError): void {
    this.heard.closed.push(error);
    this.#wake();
  }

  /** Resolves when `look` finds something in what was heard so far; looks again at every event. */
  async until<TFound>(look: (heard: Heard) => TFound | undefined): Promise<TFound> {
    for (;;) {
      const found = look(this.heard);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  /** The result of the response to `id`. */
  async result(id: RequestId): Promise<unknown> {
    return this.until((heard) => {
      for (const { message } of heard.messages) if ('result' in message && message.id === id) return message.result;
      return undefined;
    });
  }

  /** The parameters of the first notification or request with this method. */
  async params(method: string): Promise<Record<string, unknown>> {
    return this.until((heard) => {
      for (const { message } of heard.messages)
        if ('method' in message && message.method === method) return { ...message.params };
      return undefined;
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
