/** Questions to the person, as they are asked: in turn, or of many at once each would find the room that there is for one. */
import { createQueue } from '../../src/domain/platform/queue.ts';
import type { AskedContent, CallRows, KeptCall, NewCall } from './rows.ts';
import { CALL_LIMITS } from './settings.ts';

/**
 * The id under which it waits: its own, or that of one that waits already and asks the same, where `mayBe` lets it be that one;
 * null: too many of its agent wait. `before`: is told that id before anybody can answer.
 */
export type Question = (
  call: NewCall,
  text: string,
  content: AskedContent,
  mayBe?: (one: KeptCall) => boolean,
  before?: (callId: string) => void,
) => Promise<string | null>;

export function createQuestion(rows: Pick<CallRows, 'add' | 'waiting'>): Question {
  const inTurn = createQueue();
  return (call, text, content, mayBe = () => true, before = () => undefined) =>
    inTurn(async () => {
      const own = (await rows.waiting()).filter(({ agentId }) => agentId === call.agentId);
      const same = own.find((each) => !each.question && each.tool === call.tool && each.input === text && mayBe(each));
      if (!same && own.length >= CALL_LIMITS.openPerAgent) return null;
      const callId = same?.callId ?? call.callId;
      before(callId);
      if (!same) await rows.add(call, 'asked', null, null, content);
      return callId;
    });
}
