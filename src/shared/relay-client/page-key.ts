/** Adds the page key to calls. The key proves that a call comes from this origin's own page. */
import { createDeferred } from '../domain/platform/deferred.ts';
import { PAGE_KEY } from '../protocol/page-key.ts';
import type { After } from '../domain/platform/timers.ts';

/**
 * Wraps the platform's `fetch` and adds the current key. Null: this browser has no key, and the
 * relay refuses the call.
 */
export function withPageKey(
  fetch: typeof globalThis.fetch,
  key: () => string | null | Promise<string | null>,
): typeof globalThis.fetch {
  return async (input, init) => {
    const pageKey = await key();
    if (pageKey === null) return await fetch(input, init);
    const headers = new Headers(init?.headers);
    headers.set(PAGE_KEY.header, pageKey);
    return await fetch(input, { ...init, headers });
  };
}

/** The subprotocols that a WebSocket offers. */
export const protocolsOf = (key: string | null): string[] =>
  key === null ? [PAGE_KEY.protocol] : [PAGE_KEY.protocol, PAGE_KEY.offered + key];

export interface HeldPageKey {
  /** Takes the key from a tab. Returns true where it differs from the last one. */
  hear(key: string | null): boolean;
  /** The last key that a tab sent. */
  now(): string | null;
  /** Waits for a tab to send the key. Resolves with null where none does in time. */
  whenHeard(): Promise<string | null>;
}

/** Holds the page key in a worker. Workers have no localStorage, so tabs send the key. */
export function createHeldPageKey(after: After, withinMs: number): HeldPageKey {
  let key: string | null = null;
  const first = createDeferred();
  after(withinMs, first.resolve);
  return {
    hear(next) {
      const changed = next !== key;
      key = next;
      first.resolve();
      return changed;
    },
    now: () => key,
    async whenHeard() {
      await first.promise;
      return key;
    },
  };
}
