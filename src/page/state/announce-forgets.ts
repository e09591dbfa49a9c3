/** Hands what was forgotten for good to the relay. */
import { runAgain } from '../../shared/domain/platform/single-flight.ts';
import type { ForgetDoc } from '../../shared/protocol/documents.ts';
import type { FinalForget } from '../../shared/protocol/forgets.ts';
import { LIMITS } from '../../shared/protocol/limits.ts';
import type { Parts } from './actions/parts.ts';

function finalForget({ _id, at, target }: ForgetDoc): FinalForget[] {
  switch (target.kind) {
    // The relay hears of agents with the team.
    case 'agent':
      return [];
    case 'conversation':
      return [{ forgetId: _id, at, target: { kind: 'conversation', agentId: target.agentId } }];
    case 'span': {
      const { agentId, from, to } = target;
      return [{ forgetId: _id, at, target: { kind: 'span', agentId, from, to } }];
    }
    case 'items': {
      const { what, agentId, sources } = target;
      return [{ forgetId: _id, at, target: { kind: 'items', what, agentId, sources: [...sources] } }];
    }
    default:
      return target satisfies never;
  }
}

/**
 * Hands final requests to the relay, whenever there are more, and at each connection: the relay may
 * have been restored from an old backup. Returns a function that stops it.
 */
export function announceForgets({
  household,
  live,
  callRelay,
}: Pick<Parts, 'household' | 'live' | 'callRelay'>): () => void {
  /** The requests that the connected relay has carried out. */
  let announced: readonly ForgetDoc[] | null = null;
  const announce = runAgain(async () => {
    const { status, forgets } = household.store.getState();
    if (live.store.getState().link.kind !== 'live') {
      announced = null;
      return;
    }
    if (status !== 'ready' || forgets === announced) return;
    const final = forgets.flatMap(finalForget);
    const accepted = final.length === 0 ? null : await callRelay((client) => client.forgets());
    // If it did not arrive, the next change or connection announces it again.
    if (accepted && !accepted.ok) return;
    const done = new Set(accepted?.value.forgetIds);
    const rest = final.filter(({ forgetId }) => !done.has(forgetId));
    for (let at = 0; at < rest.length; at += LIMITS.forgets) {
      const taken = await callRelay((client) =>
        client.forget({ body: { forgets: rest.slice(at, at + LIMITS.forgets) } }),
      );
      if (!taken.ok) return;
    }
    announced = forgets;
  });
  const stops = [household.store, live.store].map((store) => store.subscribe(() => void announce()));
  return () => stops.forEach((stop) => stop());
}
