/**
 * API clients that joined with an agent's credential and drive it from outside, beside a mind of
 * the relay or in its place. They have no seat in `Presence`, so the seat stays free for a mind.
 * They fetch their own messages.
 */
import { shownName } from '../../../src/shared/domain/names.ts';
import type { JoinedClient } from '../../../src/shared/domain/lifecycle.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { CallingClient } from './contract.ts';
import type { SessionContext } from './context.ts';

interface GuestAgent {
  readonly agentId: AgentId;
  readonly position: number;
}

export interface Guests {
  /**
   * A client has called. Resolves when that is on disk and it is known whether its agent starts
   * paused.
   */
  called(agent: GuestAgent, client: CallingClient): Promise<void>;
  left(credentialId: string): void;
  /** Takes this agent out of the session. False: no client drives it. */
  leave(agentId: AgentId): boolean;
  /** The client that drives this agent. Of several, the first. */
  of(agentId: AgentId): JoinedClient | null;
  inSeat(position: number): boolean;
}

interface Guest {
  readonly agent: GuestAgent;
  client: CallingClient;
  cancelSilence: () => void;
}

export function createGuests({ sessionId, now, timers, limits, pauses, record, onHere }: SessionContext): Guests {
  /** Guests by credential. */
  const guests = new Map<string, Guest>();

  function left(credentialId: string): void {
    const guest = guests.get(credentialId);
    if (!guest) return;
    guest.cancelSilence();
    guests.delete(credentialId);
    void record([{ kind: 'client-left', time: now(), agentId: guest.agent.agentId, sessionId, credentialId }]);
  }

  function awaitCall(guest: Guest): void {
    guest.cancelSilence();
    guest.cancelSilence = timers.after(limits.clientSilentMs, () => {
      // A paused client must be silent: its requests are held.
      if (pauses.isPaused(guest.agent.agentId)) awaitCall(guest);
      else left(guest.client.credentialId);
    });
  }

  return {
    async called(agent, { credentialId, name: given, readsInbox }) {
      const name = shownName(given, 'label');
      const before = guests.get(credentialId);
      const client: CallingClient = {
        credentialId,
        name,
        readsInbox: readsInbox || (before?.client.readsInbox ?? false),
      };
      const guest = before ?? { agent, client, cancelSilence: () => undefined };
      const isNews = !before || before.client.readsInbox !== client.readsInbox;
      guest.client = client;
      guests.set(credentialId, guest);
      awaitCall(guest);
      // Calls may arrive together. None of them continues before it is known whether the agent
      // starts paused.
      const here = onHere(agent.agentId);
      if (isNews)
        await record([
          {
            kind: 'client-joined',
            time: now(),
            ...agent,
            sessionId,
            credentialId,
            client: name,
            readsInbox: client.readsInbox,
          },
        ]);
      await here;
    },
    left,
    leave(agentId) {
      const here = [...guests].flatMap(([credentialId, guest]) =>
        guest.agent.agentId === agentId ? [credentialId] : [],
      );
      here.forEach(left);
      return here.length > 0;
    },
    of: (agentId) => [...guests.values()].find((guest) => guest.agent.agentId === agentId)?.client ?? null,
    inSeat: (position) => [...guests.values()].some((guest) => guest.agent.position === position),
  };
}
