/** Who is in this session besides the lead: awake, or on the way. Whoever is not here sleeps. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Birth } from '../../contracts/index.ts';
import type { AsleepReason } from '../../../src/shared/protocol/events.ts';
import type { Life } from '../runs/life.ts';
import type { Interruption } from '../runs/outcome.ts';
import type { Speaker } from '../runs/speaker.ts';

/**
 * `called`: it has a seat. `waking`, `hatching`: it is asked for its first words. `leaving`: being
 * put to sleep.
 */
export type Phase = 'called' | 'waking' | 'hatching' | 'awake' | 'leaving';

export interface Present {
  readonly agentId: AgentId;
  readonly position: number;
  /** Its run: from the call until it leaves the session. */
  readonly life: Life;
  phase(): Phase;
  /** Null for an egg that has not chosen yet. */
  name(): string | null;
  speaker(): Speaker | null;
  /** What its own program may call while it hatches; null: it does not hatch. */
  birth(): Birth | null;
  /** Asks its mind for its first words. */
  begin(): void;
  /** The call was not one after all: it goes, and nothing is written. */
  abandon(): void;
  /**
   * The person stops what it is saying, or is still to be asked. False where there is nothing to
   * stop.
   */
  stop(): boolean;
  /**
   * The session ends: nothing more is asked or said. Resolves when what was being said is on disk.
   */
  close(why: Interruption): Promise<void>;
  /** It goes, whatever it is doing; resolves when that is on disk. */
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
