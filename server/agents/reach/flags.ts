/**
 * The queue in which applications and threads clear sleeping flags. The gate is asked again for
 * what it stops, the oldest first, until it passes. The queue is in memory, as the flags are: both
 * end with the session.
 */
import type { GateCheck } from '../../../src/shared/domain/guardrails.ts';
import type { SessionId } from '../../../src/shared/domain/ids.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { WakeDecision } from '../../../src/shared/protocol/wakes.ts';
import type { Pauses, Reach, SessionHost, WakeAsked } from '../../contracts/index.ts';
import type { Logger } from '../runs/context.ts';
import { againIn, type ReachSettings } from './settings.ts';

export interface FlagsDeps {
  readonly ask: Reach['ask'];
  readonly pauses: Pick<Pauses, 'isPaused' | 'subscribe'>;
  readonly host: Pick<SessionHost, 'sessionId'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
  readonly settings: ReachSettings;
}

interface Waiting {
  readonly request: WakeAsked;
  readonly sessionId: SessionId;
  readonly since: number;
  /** ms since the epoch: not asked for before. */
  nextAt: number;
  readonly cleared: Promise<boolean>;
  resolve(isAwake: boolean): void;
}

export function createFlags({ ask, pauses, host, timers, now, logger, settings }: FlagsDeps): {
  readonly clear: Reach['clearFlag'];
  close(): void;
} {
  const waiting: Waiting[] = [];
  const inTurn = createQueue();
  let cancel: (() => void) | null = null;

  function leave(one: Waiting, isAwake: boolean): void {
    const at = waiting.indexOf(one);
    if (at >= 0) waiting.splice(at, 1);
    one.resolve(isAwake);
  }
  // Whoever woke it: what waits would wake it from its next sleep.
  const stopListening = pauses.subscribe(({ agentId, paused }) => {
    if (!paused) for (const one of waiting.filter(({ request }) => request.target === agentId)) leave(one, true);
  });

  const nextAfter = (until: number | null) => now() + againIn(until, now(), settings);

  /**
   * Asks for those whose time has come, in order. Who waits for the flood guard holds up those
   * behind it.
   */
  async function pass(): Promise<void> {
    for (const one of [...waiting]) {
      if (!waiting.includes(one)) continue;
      const { request, sessionId, since } = one;
      if (host.sessionId() !== sessionId || !pauses.isPaused(request.target)) {
        leave(one, host.sessionId() === sessionId);
        continue;
      }
      if (one.nextAt > now()) continue;
      const { decision } = await ask({ ...request, since, quiet: true });
      if (decision.outcome === 'granted') {
        leave(one, true);
        continue;
      }
      one.nextAt = nextAfter(decision.until);
      if (decision.check === 'flood') return;
    }
  }
  function passLater(): void {
    cancel?.();
    cancel = null;
    if (waiting.length === 0) return;
    const wait = Math.max(1, Math.min(...waiting.map(({ nextAt }) => nextAt)) - now());
    cancel = timers.after(Math.min(wait, settings.againMostMs), () => {
      void inTurn(pass)
        .catch((error: unknown) =>
          logger.error('a sleeping flag could not be cleared; it is tried again', { error: String(error) }),
        )
        .finally(passLater);
    });
  }

  /** For one check it waits where that passes by waiting. */
  const stays = ({ check, until }: WakeDecision, only: GateCheck | undefined) =>
    only === undefined || (check === only && until !== null);

  return {
    clear: (request, only) =>
      inTurn(async () => {
        await pass();
        const since = now();
        const sessionId = host.sessionId();
        const answer = await ask({ ...request, since });
        const { outcome, until } = answer.decision;
        const isAwake = outcome === 'granted';
        const before = waiting.find((one) => one.request.target === request.target);
        if (isAwake || sessionId === null || !pauses.isPaused(request.target) || !stays(answer.decision, only))
          return { ...answer, waits: false, cleared: Promise.resolve(isAwake || !pauses.isPaused(request.target)) };
        if (before) return { ...answer, waits: true, cleared: before.cleared };
        const { promise, resolve } = createDeferred<boolean>();
        waiting.push({ request, sessionId, since, nextAt: nextAfter(until), cleared: promise, resolve });
        passLater();
        return { ...answer, waits: true, cleared: promise };
      }),
    close() {
      cancel?.();
      stopListening();
      for (const one of [...waiting]) leave(one, false);
    },
  };
}
