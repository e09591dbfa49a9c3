/** The Messages API, by Anthropic's SDK. */
import Anthropic from '@anthropic-ai/sdk';
import { eventsOf, inBounds } from '../event-reader.ts';
import { MIND_LIMITS } from '../settings.ts';
import { eventOf } from '../wire-events.ts';
import { requestParams } from '../wire.ts';
import { shortRefusal } from './refusal.ts';
import type { Wire, WireConfig } from './wire.ts';

/** How the key travels; every local server we know of understands `both`. */
export type KeyHeader = 'bearer' | 'x-api-key' | 'both';

/** The SDK would otherwise look for credentials in the environment and on disk and send those. */
const NO_KEY = 'no-key';

/** `baseURL`: without `/v1`. */
export function createMessagesWire({
  key,
  baseURL,
  keyHeader,
  fetch,
}: WireConfig & { readonly keyHeader: KeyHeader }): Wire {
  const { messages } = new Anthropic({
    apiKey: key ?? NO_KEY,
    authToken: null,
    baseURL,
    defaultHeaders: {
      ...(key !== null && keyHeader !== 'bearer' ? { 'x-api-key': key } : {}),
      ...(key === null || keyHeader === 'x-api-key' ? { authorization: null } : {}),
    },
    // The SDK reads a refusal to its end, however long that is and takes.
    fetch: async (input, init) => shortRefusal(await fetch(input, init)),
    // What may be sent again, and when, is the queue's to know.
    maxRetries: 0,
    timeout: MIND_LIMITS.requestTimeoutMs,
    // Its log lines may hold request bodies; what matters comes back as an error.
    logLevel: 'off',
    openTelemetry: false,
  });
  return {
    async send(request, shape, signal) {
      const { body, headers } = await messages.create(requestParams(request, shape), { signal }).asResponse();
      return { headers, events: (patience) => inBounds(eventsOf(body, patience, eventOf)) };
    },
  };
}
