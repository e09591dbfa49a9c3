/** The context size of the sleeping agents, for the line under the button and the wake preview. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Agent } from '../../shared/domain/agent.ts';
import { asleepFrom, type SessionEnd } from '../../shared/domain/lifecycle.ts';
import { isSeatPosition } from '../../shared/domain/seat.ts';
import type { Transcript } from '../../shared/domain/transcript.ts';
import type { AgentPayload } from '../../shared/domain/wake-payload.ts';
import type { WakeSession } from '../../shared/protocol/worker.ts';
import { errorText, type DataWorkerPort } from './ports.ts';
import type { Household } from './household.ts';

// The context of an agent when it wakes. `wake-context.ts` builds it.

/** The context of one agent. */
export interface WakeShare {
  readonly agent: Agent;
  readonly transcript: Transcript | null;
  /** UTF-8 bytes */
  readonly soulBytes: number;
  readonly transcriptBytes: number;
  /** Time of the last message it remembers, or null. */
  readonly lastSaid: number | null;
  /** Session of that message, or null. */
  readonly lastSession: string | null;
  /** How that session ended, according to the ledger, or null. */
  readonly ended: SessionEnd | null;
}

/** When the agent fell asleep, as wake and start prompts state it. */
export function sleepOf(
  lastSaid: number | null,
  ended: SessionEnd | null,
): { readonly asleepSince?: number; readonly sleptFrom?: number } {
  if (lastSaid === null) return {};
  const from = asleepFrom(lastSaid, ended);
  return { asleepSince: lastSaid, ...(from === null || from === lastSaid ? {} : { sleptFrom: from }) };
}

/** The payload of one agent, or null if it has no seat. */
export function payloadOf({ agent, transcript, lastSaid, ended }: WakeShare): AgentPayload | null {
  const { agentId: id, name, color, colorName, position, soul } = agent;
  if (!isSeatPosition(position)) return null;
  return {
    id,
    name,
    color,
    colorName,
    position,
    soul: soul === '' ? null : soul,
    transcript: transcript?.text ?? null,
    ...sleepOf(lastSaid, ended),
  };
}

interface WakeSizesState {
  readonly status: 'idle' | 'loading' | 'ready' | 'failed';
  readonly error: string | null;
  readonly shares: readonly WakeShare[];
}

export interface WakeSizes {
  readonly store: StoreApi<WakeSizesState>;
  /** Reads the current context of these agents. The newest request wins. */
  refresh(agents: readonly Agent[]): Promise<void>;
  /** As `refresh`, for callers that need the result. Rejects where the ledger cannot be read. */
  read(agents: readonly Agent[]): Promise<readonly WakeShare[]>;
}

export function createWakeSizes(dataWorker: DataWorkerPort, household: Household): WakeSizes {
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
    const material = await dataWorker.call('wakeMaterial', { agentIds, cap: settings.transcriptCap });
    const byAgent = new Map(material.map((item) => [item.agentId, { ...item, sessions: item.sessions.map(seen) }]));
    const { shareOf } = await import('./wake-context.ts');
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
        // Shown in place of the sizes.
        if (mine === newest) store.setState({ status: 'failed', error: errorText(error) });
      }
    },
  };
}
