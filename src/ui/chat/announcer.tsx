import { useState } from 'react';
import { textOf } from '../../state/answers.ts';
import type { MessageDoc } from '../../protocol/documents.ts';

/** Characters of an answer that are read out; the rest is there to be read. */
const READ_OUT = 600;

interface Said {
  readonly messageId: string;
  readonly text: string;
}

/**
 * Says a finished answer once, for those who listen to the page. Its stream is not read out word by word,
 * and what was there when the conversation was opened is not said at all.
 *
 * It goes by the newest answer, below which the person may have written already, not by answers that were open before: a short answer can begin and end
 * between two renderings.
 */
export function Announcer({ messages, name }: { messages: readonly MessageDoc[]; name: string }) {
  const [said, setSaid] = useState<Said | null>(null);
  const newest = messages.findLast(({ role }) => role === 'assistant');
  const [heard, setHeard] = useState(newest?.messageId);
  if (newest && newest.messageId !== heard) {
    setHeard(newest.messageId);
    setSaid({ messageId: newest.messageId, text: `${name}: ${textOf(newest.blocks).slice(0, READ_OUT)}` });
  }
  // What was taken out of sight since is not read out either.
  const present = said !== null && messages.some(({ messageId }) => messageId === said.messageId);
  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {/* A new element for every answer: the same words a second time are said a second time. */}
      {present && <span key={said.messageId}>{said.text}</span>}
    </p>
  );
}
