/**
 * How much the sleeping agents would take along: the line under the button, and the wake preview.
 */
import { errorText } from './ports.ts';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Agent } from '../../shared/domain/agent.ts';
import type { WakeSession } from '../../shared/protocol/worker.ts';
import type { Household } from './household.ts';
import type { OwnerPort } from './ports.ts';
import type { WakeShare } from './wake-share.ts';

interface WakeSizesState {
  readonly status: 'idle' | 'loading' | 'ready' | 'failed';
  readonly error: string | null;
  readonly shares: readonly WakeShare[];
}

export interface WakeSizes {
  readonly store: StoreApi<WakeSizesState>;
  /** Reads what these agents would be given now. The newest request holds. */
  refresh(agents: readonly Agent[]): Promise<void>;
  /** As `refresh`, for a caller that needs the answer. Rejects where the ledger cannot be read. */
  read(agents: readonly Agent[]): Promise<readonly WakeShare[]>;
}

export function createWakeSizes(owner: OwnerPort, household: Household): WakeSizes {
  const store = createStore<WakeSizesState>()(() => ({ status: 'idle', error: null, shares: [] }));
  let newest = 0;

  /** Without what is being forgotten. */
  function seen(session: WakeSession): WakeSession {
    if (session.kind === 'talk')
      return { ...session, messages: session.messages.filter((message) => !household.isHidden(message)) };
    return session.last && household.isHidden(session.last) ? { ...session, last: null } : session;
  }

  async function read(agents: readonly Agent[]): Promise<readonly WakeShare[]> {
    const { settings } = household.store.getState();
    const agentIds = agents.map((agent) => agent.agentId);
    const material = await owner.call('wakeMaterial', { agentIds, cap: settings.transcriptCap });
    const byAgent = new Map(material.map((item) => [item.agentId, { ...item, sessions: item.sessions.map(seen) }]));
    const { shareOf } = await import('./wake-material.ts');
    const { roster } = household.store.getState();
    return agents.map((agent) => shareOf(agent, byAgent.get(agent.agentId), roster, settings));
  }

  return {
    store,
    read,
    async refresh(agents) {
      const mine = ++newest;
      if (store.getState().status === 'idle') store.setState({ status: 'loading' });
      try {
        const shares = await read(agents);
        if (mine === newest) store.setState({ status: 'ready', error: null, shares });
      } catch (error) {
        // Shown where the sizes would stand.
        if (mine === newest) store.setState({ status: 'failed', error: errorText(error) });
      }
    },
  };
}
