/** The agents in this session besides the lead, here or on the way. All others sleep. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Arrival } from './arrival.ts';
import type { Birth } from './contract.ts';
import type { AsleepReason } from '../../../src/shared/protocol/events.ts';
import type { Life } from '../runs/life.ts';
import type { Interruption } from '../runs/outcome.ts';
import type { Speaker } from '../runs/speaker.ts';

export interface Present {
  readonly agentId: AgentId;
  readonly position: number;
  /** Its run, from the call until it leaves the session. */
  readonly life: Life;
  state(): Arrival['state'];
  /** Null for an egg without a name. */
  name(): string | null;
  speaker(): Speaker | null;
  /** The tools of its own client while it hatches; null: it does not hatch. */
  birth(): Birth | null;
  /** Asks its mind for its first words. */
  begin(): void;
  /** The call is cancelled. The agent leaves, and nothing is written. */
  abandon(): void;
  /**
   * The person stops its answer, or the request that is still to be sent. False: there is nothing
   * to stop.
   */
  stop(): boolean;
  /**
   * The session ends. Nothing more is asked or said. Resolves when its answer so far is on disk.
   */
  close(why: Interruption): Promise<void>;
  /** The agent leaves, whatever it does. Resolves when that is on disk. */
  leave(reason: AsleepReason): Promise<void>;
  /** A message was put into its inbox. */
  inboxChanged(): void;
}

export interface Presence {
  add(agent: Present): void;
  remove(agentId: AgentId): void;
  get(agentId: AgentId): Present | undefined;
  inSeat(position: number): Present | undefined;
  all(): readonly Present[];
}

export function createPresence(): Presence {
  const agents = new Map<string, Present>();
  return {
    add: (agent) => void agents.set(agent.agentId, agent),
    remove: (agentId) => void agents.delete(agentId),
    get: (agentId) => agents.get(agentId),
    inSeat: (position) => [...agents.values()].find((agent) => agent.position === position),
    all: () => [...agents.values()],
  };
}
