/** Requests to a server that a page has named: only where its household may go, and never on to where that server points. */
import { Agent, fetch as undiciFetch } from 'undici';
import type { MayConnect } from '../../src/protocol/models.ts';
import { lookupWithin } from './addresses.ts';

export interface GuardedFetch {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/** `may` holds for names; an address in digits is checked where it is named, and leads nowhere else. */
export function createGuardedFetch(may: MayConnect, lookup = lookupWithin(may)): GuardedFetch {
  const dispatcher = new Agent({ connect: { lookup } });
  // The two fetches have the same shape, and types of their own.
  const guarded = (input: unknown, init: object = {}) =>
    undiciFetch(input as string, { ...init, redirect: 'manual', dispatcher });
  return { fetch: guarded as unknown as typeof globalThis.fetch, close: () => dispatcher.destroy() };
}
