import { useEffect, useRef, useState } from 'react';
import { textOf } from '../../state/answers.ts';
import type { MessageDoc } from '../../protocol/documents.ts';

/** Characters of an answer that are read out; the rest is there to be read. */
const READ_OUT = 600;

/** Says a finished answer once, for those who listen to the page. Its stream is not read out word by word. */
export function Announcer({ messages, openIds, name }: { messages: readonly MessageDoc[]; openIds: readonly string[]; name: string }) {
  const [said, setSaid] = useState('');
  const open = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const now = new Set(openIds);
    const done = messages.findLast((message) => open.current.has(message.messageId) && !now.has(message.messageId));
    if (done) setSaid(`${name}: ${textOf(done.blocks).slice(0, READ_OUT)}`);
    open.current = new Set([...now, ...[...open.current].filter((id) => !messages.some((message) => message.messageId === id))]);
  }, [messages, openIds, name]);
  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {said}
    </p>
  );
}
