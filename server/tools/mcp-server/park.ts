/**
 * The sleep gate of MCP calls: a call of a sleeping agent waits until it is woken, and then goes
 * on, once.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Credentials } from '../../access/index.ts';
import type { Configs, Pauses } from '../../contracts/index.ts';
import { WAITING, type StillParked } from './sayings.ts';
import type { Progress } from './progress.ts';

export interface ParkDeps {
  readonly pauses: Pick<Pauses, 'wait' | 'isPaused'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly credentials: Pick<Credentials, 'check' | 'onRevoke'>;
}

/** Whose call it is. */
interface ParkedCall {
  readonly agentId: AgentId;
  readonly credentialId: string;
  readonly secret: string;
  /** The client has gone. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

type ParkOutcome = { readonly go: true } | { readonly go: false; readonly held: StillParked; readonly seconds: number };

export interface Park {
  /**
   * At once where the agent is awake. Rejects with the signal's reason where the client goes away
   * first.
   */
  wait(call: ParkedCall): Promise<ParkOutcome>;
  close(): void;
}

export function createPark({ pauses, configs, credentials }: ParkDeps): Park {
  /** What ends the waits of each credential. */
  const waits = new Map<string, Set<AbortController>>();
  const stop = credentials.onRevoke((credentialId) => {
    for (const controller of waits.get(credentialId) ?? []) controller.abort();
  });

  /** Hundreds that are released in one moment ask once. */
  const asking = new Map<string, Promise<boolean>>();
  function isGood(secret: string): Promise<boolean> {
    const asked =
      asking.get(secret) ??
      credentials
        .check(secret)
        .then((bearer) => bearer !== null)
        .finally(() => asking.delete(secret));
    asking.set(secret, asked);
    return asked;
  }

  return {
    async wait({ agentId, credentialId, secret, signal, progress }) {
      signal.throwIfAborted();
      if (!pauses.isPaused(agentId)) return { go: true };
      const { sleep_wait_seconds: seconds } = (await configs.household()).effective;
      const revoked = new AbortController();
      const mine = waits.get(credentialId) ?? new Set();
      waits.set(credentialId, mine.add(revoked));
      progress.now(WAITING);
      try {
        const waited = await pauses.wait(agentId, {
          signal: AbortSignal.any([signal, revoked.signal]),
          limitMs: seconds * 1_000,
        });
        signal.throwIfAborted();
        if (waited === 'late' || waited === 'ended') return { go: false, held: waited, seconds };
        // Another process may have revoked it: what waited long is asked again.
        const good = waited === 'awake' && (await isGood(secret));
        signal.throwIfAborted();
        return good ? { go: true } : { go: false, held: 'revoked', seconds };
      } finally {
        mine.delete(revoked);
        if (mine.size === 0 && waits.get(credentialId) === mine) waits.delete(credentialId);
      }
    },
    close: stop,
  };
}
