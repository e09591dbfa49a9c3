/**
 * Clients that joined with an agent's credential and play it from elsewhere: beside a mind of the
 * relay's, or where none is. They have no seat in `Presence`: the seat is free for a mind at any
 * time. They fetch their own messages.
 */
import { shownName } from '../../../src/shared/domain/names.ts';
import type { JoinedClient } from '../../../src/shared/domain/lifecycle.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { CallingClient } from '../../contracts/index.ts';
import type { SessionContext } from './context.ts';

interface GuestAgent {
  readonly agentId: AgentId;
  readonly position: number;
}

export interface Guests {
  /** It has called. Resolves when that is on disk, and known whether its agent starts asleep. */
  called(agent: GuestAgent, client: CallingClient): Promise<void>;
  left(credentialId: string): void;
  /** Takes this agent out of the session. False where nobody plays it. */
  leave(agentId: AgentId): boolean;
  /** Who plays this agent; the one that came first of several. */
  of(agentId: AgentId): JoinedClient | null;
  inSeat(position: number): boolean;
}

interface Guest {
  readonly agent: GuestAgent;
  client: CallingClient;
  cancelSilence: () => void;
}

export function createGuests({ sessionId, now, timers, limits, pauses, record, onHere }: SessionContext): Guests {
  /** By credential. */
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
      // What it asks for is held: it is silent because it must be.
      if (pauses.isPaused(guest.agent.agentId)) awaitCall(guest);
      else left(guest.client.credentialId);
    });
  }

  return {
    async called(agent, { credentialId, name: given, readsInbox }) {
      const name = shownName(given, 'label');
      const known = guests.get(credentialId);
      const client: CallingClient = {
        credentialId,
        name,
        readsInbox: readsInbox || (known?.client.readsInbox ?? false),
      };
      const guest = known ?? { agent, client, cancelSilence: () => undefined };
      const isNews = !known || known.client.readsInbox !== client.readsInbox;
      guest.client = client;
      guests.set(credentialId, guest);
      awaitCall(guest);
      // Of calls that come together, none goes on before it is known whether the agent starts
      // asleep.
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
