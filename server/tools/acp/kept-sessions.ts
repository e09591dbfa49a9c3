/**
 * Sessions of programs that ended with their agent’s own: the next wake goes on with one, where the
 * program can, and the agent and its conversation are still what it knows of them. Where anything
 * of that is another, soul and transcript do, as for all.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import type { WokenTalk } from '../../contracts/index.ts';
import type { Sealer } from '../../platform/sealer.ts';
import type { Db } from '../../store/index.ts';
import type { ProgramLimits } from './settings.ts';

/** How a program’s session stood when it ended. */
export interface LeftSession {
  readonly sessionId: string;
  /** US dollars that it had reported. */
  readonly dollars: number;
  /** The agent’s system prompt. */
  readonly system: string;
  /** All texts that were put before it. */
  readonly heard: readonly string[];
}
export type ResumableSession = Pick<LeftSession, 'sessionId' | 'dollars'>;

const keptSchema = z.object({
  programId: z.string(),
  sessionId: z.string(),
  dollars: z.number(),
  /** Of system prompt and soul. */
  agent: z.string(),
  lastSaid: z.number(),
  firstWords: z.string(),
});
type KeptSession = z.infer<typeof keptSchema>;

const agentOf = (system: string, soul: string | null) =>
  createHash('sha256')
    .update(JSON.stringify([system, soul]))
    .digest('hex');

/** Characters of a first line by which it is found again: a transcript may cut what is longer. */
const FIRST_WORDS = 60;
const beginningOf = (text: string) => text.trim().split('\n', 1).join('').slice(0, FIRST_WORDS).trimEnd();

/** What is kept of one that ended so; null: it does not know all that was said. */
function keptOf(programId: string, left: LeftSession, talk: WokenTalk): KeptSession | null {
  const [first] = talk.said;
  const firstWords = first ? beginningOf(first.text) : '';
  const heard = (text: string) => left.heard.some((each) => text === each || text.startsWith(`${each}\n`));
  const hasHeard = talk.said.every(({ author, text }) => author !== PERSON || heard(text));
  if (!talk.whole || firstWords === '' || !hasHeard) return null;
  const { sessionId, dollars, system } = left;
  const lastSaid = talk.said.reduce((last, { time }) => Math.max(last, time), 0);
  return { programId, sessionId, dollars, agent: agentOf(system, talk.soul), lastSaid, firstWords };
}

/**
 * Whether an agent that wakes with this program is the one that it knew, and its conversation is
 * what it heard: nothing was said since, and nothing was forgotten, not in the midst of it either:
 * what it began with is told again.
 */
const isSame = (kept: KeptSession, programId: string, system: string, talk: WokenTalk): boolean =>
  kept.programId === programId &&
  kept.agent === agentOf(system, talk.soul) &&
  kept.lastSaid === talk.asleepSince &&
  talk.transcript?.includes(kept.firstWords) === true;

export interface KeptSessionsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly sealer: Sealer;
  readonly now: () => number;
  /** Asked at the very end of an agent’s run too. */
  readonly talkOf: (agentId: AgentId) => WokenTalk | null;
  readonly limits: Pick<ProgramLimits, 'resumeWithinMs'>;
}

export function createKeptSessions({ db, home, sealer, now, talkOf, limits }: KeptSessionsDeps) {
  const about = (agentId: AgentId) => JSON.stringify(['program session', home, agentId]);
  const oldest = () => now() - limits.resumeWithinMs;
  return {
    /** Those that no wake may go on with any more are gone. */
    async start(): Promise<void> {
      await db.deleteFrom('program_sessions').where('home', '=', home).where('ended_at', '<', oldest()).execute();
    },
    /**
     * The one that a wake may go on with; null: none. It is no more then: a relay that is killed
     * now leaves what nobody has heard.
     */
    async take(agentId: AgentId, programId: string, system: string): Promise<ResumableSession | null> {
      const talk = talkOf(agentId);
      const row = await db
        .deleteFrom('program_sessions')
        .where('home', '=', home)
        .where('agent_json', '=', JSON.stringify(agentId))
        .returning(['sealed', 'ended_at'])
        .executeTakeFirst();
      const text = row && row.ended_at >= oldest() ? sealer.open(row.sealed, about(agentId)) : null;
      if (text === null || !talk) return null;
      const kept = keptSchema.parse(JSON.parse(text));
      return isSame(kept, programId, system, talk) ? kept : null;
    },
    /** Its run ends. What is returned is called when its program has ended. */
    leaving(agentId: AgentId, programId: string): (left: LeftSession | null) => Promise<void> {
      const talk = talkOf(agentId);
      return async (left) => {
        const kept = left && talk ? keptOf(programId, left, talk) : null;
        if (kept === null) return;
        const row = { sealed: sealer.seal(JSON.stringify(kept), about(agentId)), ended_at: now() };
        await db
          .insertInto('program_sessions')
          .values({ home, agent_json: JSON.stringify(agentId), ...row })
          .onConflict((conflict) => conflict.columns(['home', 'agent_json']).doUpdateSet(row))
          .execute();
      };
    },
  };
}
