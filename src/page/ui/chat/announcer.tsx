import { useState } from 'react';
import type { MessageId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';

/** Characters that are read out; the rest is there to be read. */
const READ_OUT = 600;

function readOut(words: string): string {
  return words.length <= READ_OUT
    ? words
    : t`${words.slice(0, READ_OUT)}… It goes on: the rest stands in the conversation.`;
}

/** The newest that somebody else has said, below which the person may have written already. */
export interface Newest {
  readonly messageId: MessageId;
  readonly name: string;
  readonly words: () => string;
}

/**
 * Says what others have said once, for those who listen to the page. What is being written is not
 * read out word by word, and what was there when the conversation was opened is not said at all.
 *
 * It goes by the newest message, not by answers that were open before: a short one can begin and
 * end between two renderings.
 */
export function Announcer({ newest, isThere }: { newest: Newest | null; isThere: (messageId: MessageId) => boolean }) {
  const [said, setSaid] = useState<{ readonly messageId: MessageId; readonly text: string } | null>(null);
  const [heard, setHeard] = useState(newest?.messageId);
  if (newest && newest.messageId !== heard) {
    setHeard(newest.messageId);
    setSaid({ messageId: newest.messageId, text: `${newest.name}: ${readOut(newest.words())}` });
  }
  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {/* A new element for every message: the same words a second time are said a second time. What was taken out of sight since is not read out. */}
      {said !== null && isThere(said.messageId) && <span key={said.messageId}>{said.text}</span>}
    </p>
  );
}
