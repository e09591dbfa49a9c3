import { useState } from 'react';
import { Link } from 'wouter';
import type { Mail } from '../../protocol/mail.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { PATHS } from '../places.ts';
import { Mark } from '../shell/mark.tsx';
import { dayAndClock, fullTime } from '../text/time.ts';
import { bytes } from '../text/sizes.ts';
import { bytesOf } from '../../state/wake-material.ts';
import { useNames } from '../use-names.ts';
import { useSomebody } from '../use-somebody.ts';

/** Characters of a letter that are shown at first. */
const SHOWN = 700;
/** Characters of a run's id that tell it apart. */
const RUN_CHARS = 6;

const PRIORITY = { normal: null, high: 'High', urgent: 'Urgent' } as const;

/** One message in an inbox: from whom, when, how urgent, and whether it was read, by which run and when. */
export function Letter({ mail, now }: { mail: Mail; now: number }) {
  const name = useNames();
  const sender = useSomebody(mail.from);
  const [whole, setWhole] = useState(false);
  const priority = PRIORITY[mail.priority];
  const long = mail.text.length > SHOWN * 1.25;
  return (
    <li
      className="letter tint"
      data-read={mail.read !== null}
      style={{ '--c': sender.kind === 'nobody' ? 'var(--ink-3)' : sender.color }}
    >
      <span className="letter-face" data-from={mail.from} aria-hidden="true">
        {mail.from === 'relay' ? <Mark /> : <FaceOf agentId={mail.from} />}
      </span>
      <div className="letter-body">
        <p className="letter-head">
          <b dir="auto">{name(mail.from)}</b>
          {priority && (
            <span className="letter-priority" data-priority={mail.priority}>
              {priority}
            </span>
          )}
          {mail.threadId !== null && (
            <Link href={PATHS.thread(mail.threadId)} className="letter-thread">
              in a thread
            </Link>
          )}
          <time dateTime={new Date(mail.time).toISOString()} title={fullTime(mail.time)}>
            {dayAndClock(mail.time, now)}
          </time>
        </p>
        <p className="letter-text plain" dir="auto">
          {long && !whole ? `${mail.text.slice(0, SHOWN)}…` : mail.text}
        </p>
        {long && (
          <button type="button" className="link-button" onClick={() => setWhole(!whole)}>
            {whole ? 'Show less' : `Show all of it (${bytes(bytesOf(mail.text))})`}
          </button>
        )}
        <p className="letter-state">
          {mail.read === null ? (
            <>
              <i aria-hidden="true" /> Unread: it waits
            </>
          ) : (
            <span title={`${fullTime(mail.read.time)} · run ${mail.read.run}`}>
              Read {dayAndClock(mail.read.time, now)} · run <code>{mail.read.run.slice(-RUN_CHARS)}</code>
            </span>
          )}
        </p>
      </div>
    </li>
  );
}
