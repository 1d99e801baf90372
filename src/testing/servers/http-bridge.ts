/** Between node:http and the web requests and responses the SDK's HTTP servers speak. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Reads the whole body of a request. */
export async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  request.setEncoding('utf8');
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** Makes the web request of a node request whose body was read. `signal` aborts when the client goes. */
export function webRequest(request: IncomingMessage, body: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const item of typeof value === 'string' ? [value] : (value ?? [])) headers.append(name, item);
  }
  const url = `http://${request.headers.host ?? '127.0.0.1'}${request.url ?? '/'}`;
  const method = request.method ?? 'GET';
  return new Request(url, { method, headers, signal, ...(method === 'POST' ? { body } : {}) });
}

/**
 * Writes a web response, chunk by chunk as it comes.
 *
 * `cut` looks at each chunk before it is written: `true` breaks the connection off there, and so does the end of a
 * response that was never cut.
 */
export async function writeResponse(
  response: Response,
  to: ServerResponse,
  options: { readonly signal: AbortSignal; readonly cut?: (chunk: string) => boolean },
): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  if (options.cut !== undefined) headers['content-type'] = 'text/event-stream';
  to.writeHead(response.status, headers);
  to.flushHeaders();
  if (response.body === null) {
    to.end();
    return;
  }
  const reader = response.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  options.signal.addEventListener('abort', stop, { once: true });
  const decoder = new TextDecoder();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const chunk: unknown = part.value;
    if (!(chunk instanceof Uint8Array)) continue;
    if (options.cut?.(decoder.decode(chunk, { stream: true })) === true) {
      stop();
      break;
    }
    to.write(chunk);
  }
  options.signal.removeEventListener('abort', stop);
  to.end();
}
