/**
 * Routines that agents ask for. One is a record of what was asked, and nothing else: it is due only
 * once the person has said yes.
 */
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { proposalSchema, type Proposal, type Schedule, type ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { parseText, type Db } from '../store/index.ts';
import type { Written } from './refusals.ts';
import { json } from './rows.ts';

/** That wait for an answer, of one agent. */
const MOST_OPEN = 5;

export interface Proposals {
  /** A sentence for the agent: it was not taken. */
  add(agentId: AgentId, why: string, routine: ScheduleOf<'routine'>): Promise<string | null>;
  /** Without an answer, the oldest first. */
  open(): Promise<Proposal[]>;
  /** Null: there is none, or it was answered. Refused, it waits still. */
  accept(proposalId: string): Promise<Written | null>;
  /** False: there is none, or it was answered. */
  decline(proposalId: string): Promise<boolean>;
}

export interface ProposalsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
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
  const one = async (proposalId: string) => (await open()).find((each) => each.proposalId === proposalId);
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
    // In turn: many at once would each find the room that there is for one.
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
      const proposal = await one(proposalId);
      if (!proposal) return null;
      const { agentId, routine } = proposal;
      // Under the proposal's own name: said yes to twice, it is one routine.
      const name = await schedules.freeName(agentId, routine.name);
      const written = await schedules.put(proposalId, { ...routine, name, enabled: true });
      if (written.ok) await answered(proposalId, 'accepted');
      onChange(agentId);
      return written;
    },
    async decline(proposalId) {
      const proposal = await one(proposalId);
      if (!proposal || !(await answered(proposalId, 'declined'))) return false;
      onChange(proposal.agentId);
      return true;
    },
  };
}
