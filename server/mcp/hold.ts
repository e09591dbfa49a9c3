/**
 * The sleep gate of MCP calls: a call of a sleeping agent waits until it is woken, and then goes on once. While it
 * waits it sends progress, where the client asked for that.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Credentials } from '../access/index.ts';
import type { Configs, Sleepers } from '../contracts.ts';
import type { Joined } from './bearer.ts';
import type { Held } from './sayings.ts';

/** Calls `run` every `ms`. Returns the way to stop. */
export type Every = (ms: number, run: () => void) => () => void;

export interface HoldDeps {
  readonly sleepers: Pick<Sleepers, 'wait' | 'isSleeping'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly credentials: Pick<Credentials, 'check' | 'onRevoke'>;
  readonly every: Every;
  readonly progressEveryMs: number;
  /** A notification could not be sent to a client that is still there. */
  readonly onError: (error: unknown) => void;
}

export type HoldOutcome = { readonly go: true } | { readonly go: false; readonly held: Held; readonly seconds: number };

export interface Hold {
  /** At once where the agent is awake. Rejects with the signal's reason where the client goes away first. */
  wait(joined: Joined, context: ServerContext, signal: AbortSignal): Promise<HoldOutcome>;
  close(): void;
}

export function createHold({ sleepers, configs, credentials, every, progressEveryMs, onError }: HoldDeps): Hold {
  /** What ends the waits of each credential. */
  const waits = new Map<string, Set<AbortController>>();
  const stop = credentials.onRevoke((credentialId) => {
    for (const controller of waits.get(credentialId) ?? []) controller.abort();
  });

  /** Hundreds that are released in one moment ask once. */
  const asking = new Map<string, Promise<boolean>>();
  function isGood(secret: string): Promise<boolean> {
    const asked = asking.get(secret) ?? credentials.check(secret).then((bearer) => bearer !== null).finally(() => asking.delete(secret));
    asking.set(secret, asked);
    return asked;
  }

  function sendProgress({ mcpReq }: ServerContext, signal: AbortSignal): () => void {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return () => undefined;
    let progress = 0;
    const send = () => {
      const notified = mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: (progress += 1), message: 'asleep: this call goes on when the agent is woken' },
      });
      notified.catch((error: unknown) => {
        if (!signal.aborted) onError(error);
      });
    };
    send();
    return every(progressEveryMs, send);
  }

  return {
    async wait({ agent, credentialId }, context, signal) {
      signal.throwIfAborted();
      if (!sleepers.isSleeping(agent.agentId)) return { go: true };
      const { sleep_wait_seconds: seconds } = (await configs.household()).effective;
      const revoked = new AbortController();
      const mine = waits.get(credentialId) ?? new Set();
      waits.set(credentialId, mine.add(revoked));
      const either = AbortSignal.any([signal, revoked.signal]);
      const stopProgress = sendProgress(context, either);
      try {
        const waited = await sleepers.wait(agent.agentId, { signal: either, limitMs: seconds * 1_000 });
        signal.throwIfAborted();
        if (waited === 'late' || waited === 'ended') return { go: false, held: waited, seconds };
        // Another process may have revoked it: what waited long is asked again.
        const good = waited === 'awake' && (await isGood(context.http?.authInfo?.token ?? ''));
        signal.throwIfAborted();
        return good ? { go: true } : { go: false, held: 'revoked', seconds };
      } finally {
        stopProgress();
        mine.delete(revoked);
        if (mine.size === 0 && waits.get(credentialId) === mine) waits.delete(credentialId);
      }
    },
    close: stop,
  };
}
