import type { MessageDoc } from '../../protocol/documents.ts';
import { waited } from '../../state/conversation-log.ts';

/** The person's last message that can be asked anew: of the running session, in words, and read already. */
export function lastQuestion(messages: readonly MessageDoc[], liveSessionId: string | null): MessageDoc | null {
  const last = messages.findLast((message) => message.author === 'human');
  if (!last || last.sessionId !== liveSessionId || waited(last)) return null;
  return last.blocks.some((block) => block.kind === 'text') ? last : null;
}
