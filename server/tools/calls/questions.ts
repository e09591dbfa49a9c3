/**
 * Questions to the person, as they are asked: one after the other, also by two processes on one
 * store. Else each would find the room that there is for one.
 */
import { sql } from 'kysely';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Db } from '../../store/index.ts';
import type { AskedContent, CallRows, KeptCall, NewCall } from './rows.ts';
import { CALL_LIMITS } from './settings.ts';
import { WITHDRAWN } from './words.ts';

export interface QuestionOptions {
  /** Whether the new question may be this one, which waits and asks the same. Left out: always. */
  readonly mayBe?: (one: KeptCall) => boolean;
  /** Whether the new question takes the place of this one, which waits. Left out: never. */
  readonly replaces?: (one: KeptCall) => boolean;
  /** Is given the id before anybody can answer. */
  readonly before?: (callId: string) => void;
}

/**
 * The id under which it waits: its own, or that of one that waits already and asks the same. Null:
 * too many of its agent wait. What the relay asks by itself is not counted among those.
 */
export type Question = (
  call: NewCall,
  text: string,
  content: AskedContent,
  options?: QuestionOptions,
) => Promise<string | null>;

export interface QuestionDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly rows: Pick<CallRows, 'add' | 'waiting' | 'close'>;
}

export function createQuestion({ db, home, rows }: QuestionDeps): Question {
  const inTurn = createQueue();
  return (call, text, content, { mayBe = () => true, replaces = () => false, before = () => undefined } = {}) =>
    inTurn(() =>
      db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended(${`questions of ${home}`}, 0))`.execute(trx);
        const own = (await rows.waiting(trx)).filter(({ agentId }) => agentId === call.agentId);
        const same = own.find(
          (each) => !each.question && each.tool === call.tool && each.input === text && mayBe(each),
        );
        const left = own.filter((each) => each === same || each.question || !replaces(each));
        const counted = left.filter(({ where }) => where !== 'relay');
        if (!same && call.place !== 'relay' && counted.length >= CALL_LIMITS.openPerAgent) return null;
        const callId = same?.callId ?? call.callId;
        before(callId);
        for (const each of own)
          if (!left.includes(each)) await rows.close(each.callId, 'withdrawn', WITHDRAWN.replaced, call.askedAt, trx);
        if (!same) await rows.add(call, 'asked', null, null, content, trx);
        return callId;
      }),
    );
}
