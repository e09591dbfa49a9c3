/**
 * Requests that `fetch` will not make: any `Host`, any path, any method, any header, as they are.
 */
import { request } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';

export interface RawRequest {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** ms; rejects where no answer is complete by then. */
  readonly timeoutMs?: number;
  /** The address of this machine that it comes from, where it is not the usual one. */
  readonly from?: string;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Unpacked where it came packed. */
  readonly text: string;
}

/** An answer may be packed where the request allowed it; what it says is the same. */
function unpack(encoding: string | undefined, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  if (encoding === 'gzip') return gunzipSync(bytes);
  return encoding === 'deflate' ? inflateSync(bytes) : bytes;
}

export function rawRequest({
  port,
  path,
  method = 'GET',
  headers = {},
  body,
  timeoutMs = 10_000,
  from,
}: RawRequest): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    // Node frames the body of POST and PUT only; without this, another method's body would be read
    // as the next request.
    const framed =
      body === undefined || headers['transfer-encoding'] !== undefined
        ? {}
        : { 'content-length': Buffer.byteLength(body) };
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        headers: { connection: 'close', ...framed, ...headers },
        ...(from === undefined ? {} : { localAddress: from }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          clearTimeout(timer);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: unpack(response.headers['content-encoding'], Buffer.concat(chunks)).toString('utf8'),
          });
        });
      },
    );
    const timer = setTimeout(() => call.destroy(new Error(`no answer to ${method} ${path}`)), timeoutMs);
    call.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    call.end(body);
  });
}
