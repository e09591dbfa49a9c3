/** The transport to one MCP server: HTTP in two ways, or a program. */
import type { Transport } from '@modelcontextprotocol/client';
import { createBoundedFetch } from '../../platform/guarded-fetch.ts';
import { MCP_LIMITS, jsonOf } from './settings.ts';
import { sdk } from './sdk.ts';
import { createProgramTransport } from './program.ts';
import type { LinkDeps, Way } from './link-types.ts';

/** The SSE transport does not report the status of a refusal. */
const withStatus =
  (inner: typeof fetch): typeof fetch =>
  async (input, init) => {
    const answer = await inner(input, init);
    const { ok, status, statusText } = answer;
    if (ok || status === 401 || init?.method !== 'POST') return answer;
    const { SdkErrorCode, SdkHttpError } = sdk();
    throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `it answered with ${status} ${statusText}`, {
      status,
      statusText,
    });
  };

/** `onDoubt` is called when a failed request may mean that the connection has ended. */
export function createTransports(deps: LinkDeps, onDoubt: () => void) {
  const { attachment, filter, limits = MCP_LIMITS } = deps;
  const watched: typeof fetch = async (input, init) => {
    try {
      const answer = await deps.fetch(input, init);
      if (!answer.ok && ![401, 405].includes(answer.status)) onDoubt();
      return answer;
    } catch (error) {
      if (!init?.signal?.aborted) onDoubt();
      throw error;
    }
  };
  /** `onTooMuch`: the server writes more than the limits permit. */
  return function transportOf(way: Way, onTooMuch: (error: Error) => void): Transport & { said?(): string } {
    if (attachment.kind === 'program') return createProgramTransport(attachment, deps, limits, filter);
    const fetch = createBoundedFetch(
      { messageBytes: limits.messageBytes, json: jsonOf(limits), flood: limits, onTooMuch },
      watched,
    );
    const options = {
      ...(deps.auth ? { authProvider: deps.auth } : {}),
      requestInit: { headers: attachment.headers },
    };
    const url = new URL(attachment.url);
    const { SSEClientTransport, StreamableHTTPClientTransport } = sdk();
    if (way === 'stream') return new SSEClientTransport(url, { ...options, fetch: withStatus(fetch) });
    return new StreamableHTTPClientTransport(url, {
      ...options,
      fetch,
      reconnectionOptions: {
        initialReconnectionDelay: limits.backoffFirst,
        maxReconnectionDelay: limits.backoffMost,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 2,
      },
    });
  };
}
