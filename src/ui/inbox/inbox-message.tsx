import { useState } from 'react';
import { Link } from 'wouter';
import type { InboxMessage } from '../../protocol/inbox.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { PATHS } from '../places.ts';
import { Mark } from '../shell/mark.tsx';
import { dayAndClock, fullTime } from '../text/time.ts';
import { bytes } from '../text/sizes.ts';
import { bytesOf } from '../../state/wake-material.ts';
import { useNames } from '../use-names.ts';
import { useSomebody } from '../use-somebody.ts';

/** Characters of a message that are shown at first. */
const SHOWN = 700;
/** Characters of a run's id that tell it apart. */
const RUN_CHARS = 6;

const PRIORITY = { normal: null, high: 'High', urgent: 'Urgent' } as const;

/** One message in an inbox: from whom, when, how urgent, and whether it was read, by which run and when. */
export function InboxMessageView({ message, now }: { message: InboxMessage; now: number }) {
  const name = useNames();
  const sender = useSomebody(message.from);
  const [whole, setWhole] = useState(false);
  const priority = PRIORITY[message.priority];
  const long = message.text.length > SHOWN * 1.25;
  return (
    <li
      className="inbox-message tint"
      data-read={message.read !== null}
      style={{ '--c': sender.kind === 'nobody' ? 'var(--ink-3)' : sender.color }}
    >
      <span className="inbox-message-face" data-from={message.from} aria-hidden="true">
        {message.from === 'relay' ? <Mark /> : <FaceOf agentId={message.from} />}
      </span>
      <div className="inbox-message-body">
        <p className="inbox-message-head">
          <b dir="auto">{name(message.from)}</b>
          {priority && (
            <span className="inbox-message-priority" data-priority={message.priority}>
              {priority}
            </span>
          )}
          {message.threadId !== null && (
            <Link href={PATHS.thread(message.threadId)} className="inbox-message-thread">
              in a thread
            </Link>
          )}
          <time dateTime={new Date(message.time).toISOString()} title={fullTime(message.time)}>
            {dayAndClock(message.time, now)}
          </time>
        </p>
        <p className="inbox-message-text plain" dir="auto">
          {long && !whole ? `${message.text.slice(0, SHOWN)}…` : message.text}
        </p>
        {long && (
          <button type="button" className="link-button" onClick={() => setWhole(!whole)}>
            {whole ? 'Show less' : `Show all of it (${bytes(bytesOf(message.text))})`}
          </button>
        )}
        <p className="inbox-message-state">
          {message.read === null ? (
            <>
              <i aria-hidden="true" /> Unread: it waits
            </>
          ) : (
            <span title={`${fullTime(message.read.time)} · run ${message.read.run}`}>
              Read {dayAndClock(message.read.time, now)} · run <code>{message.read.run.slice(-RUN_CHARS)}</code>
            </span>
          )}
        </p>
      </div>
    </li>
  );
}
