/** Corrections of the summaries by which agents go on. */
import type { MessageDoc } from '../../shared/protocol/documents.ts';
import { SCHEMA_VERSION } from '../../shared/protocol/documents/kinds.ts';
import { attempt, DONE, type Done, doneOf } from './attempt.ts';
import type { RoostState } from './index.ts';

/**
 * Saves the person's text in place of a summary. The relay comes first: an agent that is awake goes
 * on by it.
 */
export async function correctSummary(
  { relay, dataWorker, clock, device, conversations }: RoostState,
  summary: MessageDoc,
  text: string,
): Promise<Done> {
  const { messageId, compaction } = summary;
  if (!compaction) return DONE;
  const correction = await relay.correctSummary({ messageId, body: { text } });
  if (!correction.ok) return doneOf(correction);
  const id = device.newId();
  const doc: MessageDoc = {
    ...summary,
    _id: `message:${id}`,
    schema: SCHEMA_VERSION,
    at: clock.next(),
    messageId: id,
    blocks: [{ kind: 'text', text }],
    time: device.now(),
    usage: null,
    compaction: { ...compaction, corrects: messageId },
  };
  const kept = await attempt(dataWorker.call('append', [doc]));
  if (!kept.ok) return kept;
  conversations.take([doc]);
  return DONE;
}
