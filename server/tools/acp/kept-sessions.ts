/**
 * Stored sessions of ACP agents that ended with their agent's own session. The next wake resumes
 * one, if the ACP agent supports that, and if agent and conversation are unchanged. Otherwise the
 * wake begins with soul and transcript, as for every mind.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import type { WokenTalk } from '../../contracts/index.ts';
import type { Sealer } from '../../platform/sealer.ts';
import type { Db } from '../../store/index.ts';
import type { ProgramLimits } from './settings.ts';

/** The state of an ACP session when it ended. */
export interface LeftSession {
  readonly sessionId: string;
  /** US dollars that it had reported. */
  readonly dollars: number;
  /** The agent's system prompt. */
  readonly system: string;
  /** All texts that it had received. */
  readonly heard: readonly string[];
}
export type ResumableSession = Pick<LeftSession, 'sessionId' | 'dollars'>;

const keptSchema = z.object({
  programId: z.string(),
  sessionId: z.string(),
  dollars: z.number(),
  /** Hash of system prompt and soul. */
  agent: z.string(),
  lastSaid: z.number(),
  firstWords: z.string(),
});
type KeptSession = z.infer<typeof keptSchema>;

const agentOf = (system: string, soul: string | null) =>
  createHash('sha256')
    .update(JSON.stringify([system, soul]))
    .digest('hex');

/**
 * Characters of a first line by which a message is found again. A transcript may cut longer ones.
 */
const FIRST_WORDS = 60;
const beginningOf = (text: string) => text.trim().split('\n', 1).join('').slice(0, FIRST_WORDS).trimEnd();

/** What is stored of an ended session. Null: it does not know the whole conversation. */
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
 * Whether the agent and the conversation are those that the session knows: the same ACP agent,
 * system prompt and soul, and no later message. The transcript must still hold the first message,
 * which shows that nothing in between was forgotten either.
 */
const isSame = (kept: KeptSession, programId: string, system: string, talk: WokenTalk): boolean =>
  kept.programId === programId &&
  kept.agent === agentOf(system, talk.soul) &&
  kept.lastSaid === talk.asleepSince &&
  talk.transcript?.includes(kept.firstWords) === true;

export interface KeptSessionsDeps {
  readonly db: Db;
  /** The id of the home. */
  readonly home: string;
  readonly sealer: Sealer;
  readonly now: () => number;
  /** Also called at the very end of an agent's run. */
  readonly talkOf: (agentId: AgentId) => WokenTalk | null;
  readonly limits: Pick<ProgramLimits, 'resumeWithinMs'>;
}

export function createKeptSessions({ db, home, sealer, now, talkOf, limits }: KeptSessionsDeps) {
  const about = (agentId: AgentId) => JSON.stringify(['program session', home, agentId]);
  const oldest = () => now() - limits.resumeWithinMs;
  return {
    /** Deletes sessions that are too old to resume. */
    async start(): Promise<void> {
      await db.deleteFrom('program_sessions').where('home', '=', home).where('ended_at', '<', oldest()).execute();
    },
    /**
     * The session that a wake may resume. Null: none. It is deleted at once, because a relay that
     * is killed now would leave a session with messages that nobody has received.
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
    /** A run is ending. The returned function is called when its process has ended. */
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
