/** Calls with the page key, which says that they come from this origin's own page. */
import { createDeferred } from '../domain/platform/deferred.ts';
import { PAGE_KEY } from '../protocol/page-key.ts';
import type { After } from '../domain/platform/timers.ts';

/**
 * As the platform's, with the key of the moment; null: this browser has none, and is told so by the
 * relay.
 */
export function withPageKey(
  fetch: typeof globalThis.fetch,
  key: () => string | null | Promise<string | null>,
): typeof globalThis.fetch {
  return async (input, init) => {
    const held = await key();
    if (held === null) return await fetch(input, init);
    const headers = new Headers(init?.headers);
    headers.set(PAGE_KEY.header, held);
    return await fetch(input, { ...init, headers });
  };
}

/** What a WebSocket offers to speak. */
export const protocolsOf = (key: string | null): string[] =>
  key === null ? [PAGE_KEY.protocol] : [PAGE_KEY.protocol, PAGE_KEY.offered + key];

export interface HeldPageKey {
  /** From a tab. True where it is another than before. */
  hear(key: string | null): boolean;
  /** What was heard last. */
  now(): string | null;
  /** Waits for the first tab to say it; null where none does in time. */
  whenHeard(): Promise<string | null>;
}

/** The key in a worker, which has no localStorage: tabs tell it. */
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
