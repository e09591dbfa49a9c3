/** Bodies in both directions: a request read whole within the limit, an answer handed on as it comes. */
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { LIMITS } from '../../src/protocol/limits.ts';
import type { RequestSize } from '../../src/domain/request-cost.ts';
import { refuseJson } from '../json-bounds.ts';
import type { ProxyError } from './errors.ts';
import { jsonOf } from './json.ts';
import { sizeOf } from './size.ts';

/** What the proxy must know of a request; all else is between the client and the model. */
const requestShape = z.looseObject({ stream: z.boolean().catch(false) });

export interface ProxyBody {
  /** As they came. */
  readonly bytes: Uint8Array;
  readonly stream: boolean;
  readonly size: RequestSize;
}

async function bytesOf(request: Request): Promise<Uint8Array | null> {
  if (Number(request.headers.get('content-length') ?? 0) > LIMITS.bodyBytes) return null;
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    chunks.push(value);
    size += value.byteLength;
    if (size > LIMITS.bodyBytes) return null;
  }
}

export async function readRequest(
  request: Request,
): Promise<{ readonly ok: true; readonly body: ProxyBody } | { readonly ok: false; readonly error: ProxyError }> {
  const bytes = await bytesOf(request);
  if (bytes === null)
    return {
      ok: false,
      error: { kind: 'too-large', message: `A request may carry ${LIMITS.bodyBytes} bytes at most.` },
    };
  const tooMuch = refuseJson(bytes);
  if (tooMuch !== null) return { ok: false, error: { kind: 'too-large', message: tooMuch } };
  const parsed = requestShape.safeParse(jsonOf(Buffer.from(bytes).toString('utf8')));
  if (parsed.success)
    return { ok: true, body: { bytes, stream: parsed.data.stream, size: sizeOf(parsed.data, bytes.byteLength) } };
  return { ok: false, error: { kind: 'malformed', message: 'The body is not a JSON object in UTF-8.' } };
}

/**
 * The pieces as they come, no faster than they are read. Where they break off the connection does too, once what was
 * said is on its way: an answer that was cut must not look whole. `over` is called when no more will be read.
 */
export function streamOf(
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
  outgoing: ServerResponse,
  gone: AbortController,
  over: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const cut = () => {
    if (!outgoing.destroyed) outgoing.write('', () => outgoing.destroy());
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (!done) return controller.enqueue(value);
          await over();
          return controller.close();
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          gone.abort(error);
          await over();
          return cut();
        }
      },
      async cancel() {
        gone.abort(new Error('the client has gone'));
        await pieces.return();
        await over();
      },
    },
    { highWaterMark: 0 },
  );
}
