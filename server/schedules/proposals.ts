/**
 * Routines proposed by agents. A proposal only records what was asked. It becomes due once the
 * person accepts it.
 */
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { type Proposal, proposalSchema, type Schedule, type ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { type HomeStore, parseText } from '../store/index.ts';
import type { Written } from './refusals.ts';
import { json } from './rows.ts';

/** Most open proposals of one agent. */
const MOST_OPEN = 5;

export interface Proposals {
  /** Null: stored. Otherwise: a sentence for the agent on why not. */
  add(agentId: AgentId, why: string, routine: ScheduleOf<'routine'>): Promise<string | null>;
  /** Unanswered proposals, oldest first. */
  open(): Promise<Proposal[]>;
  /** Null: there is no such open proposal. If the schedule is refused, the proposal stays open. */
  accept(proposalId: string): Promise<Written | null>;
  /** False: there is no such open proposal. */
  decline(proposalId: string): Promise<boolean>;
}

interface ProposalsDeps extends HomeStore {
  readonly schedules: {
    put(scheduleId: ScheduleId, schedule: Schedule): Promise<Written>;
    freeName(agentId: AgentId, name: string): Promise<string>;
  };
  readonly now: () => number;
  readonly newId: () => string;
  readonly onChange: (agentId: AgentId) => void;
}

export function createProposals({ db, home, schedules, now, newId, onChange }: ProposalsDeps): Proposals {
  const inTurn = createQueue();
  async function open(): Promise<Proposal[]> {
    const rows = await db
      .selectFrom('proposals')
      .selectAll()
      .where('home', '=', home)
      .where('answer', 'is', null)
      .orderBy('made_at')
      .orderBy('proposal')
      .execute();
    return rows.map((row) =>
      proposalSchema.parse({
        proposalId: row.proposal,
        agentId: parseText(row.agent_json),
        why: parseText(row.why_json),
        routine: JSON.parse(row.value_json),
        madeAt: row.made_at,
      }),
    );
  }
  const proposalOf = async (proposalId: string) => (await open()).find((each) => each.proposalId === proposalId);
  async function answered(proposalId: string, answer: 'accepted' | 'declined'): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('proposals')
      .set({ answer, answered_at: now() })
      .where('home', '=', home)
      .where('proposal', '=', proposalId)
      .where('answer', 'is', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  return {
    open,
    // Queued, so that concurrent calls cannot exceed the limit.
    add: (agentId, why, routine) =>
      inTurn(async () => {
        const own = (await open()).filter((each) => each.agentId === agentId);
        if (own.length >= MOST_OPEN)
          return `${MOST_OPEN} of your proposals wait for the human. Wait for an answer first.`;
        await db
          .insertInto('proposals')
          .values({
            home,
            proposal: newId(),
            agent_json: json(agentId),
            value_json: JSON.stringify({ ...routine, agentId }),
            why_json: json(why),
            made_at: now(),
          })
          .execute();
        onChange(agentId);
        return null;
      }),
    async accept(proposalId) {
      const proposal = await proposalOf(proposalId);
      if (!proposal) return null;
      const { agentId, routine } = proposal;
      // The routine's id is that of the proposal. Accepting it twice gives one routine.
      const name = await schedules.freeName(agentId, routine.name);
      const written = await schedules.put(proposalId, { ...routine, name, enabled: true });
      if (written.ok) await answered(proposalId, 'accepted');
      onChange(agentId);
      return written;
    },
    async decline(proposalId) {
      const proposal = await proposalOf(proposalId);
      if (!proposal || !(await answered(proposalId, 'declined'))) return false;
      onChange(proposal.agentId);
      return true;
    },
  };
}
