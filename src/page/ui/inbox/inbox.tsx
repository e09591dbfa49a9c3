/** An agent's inbox: its messages, and whether each was read. */
import { useStore } from 'zustand';
import { useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { InboxMessage } from '../../../shared/protocol/threads.ts';
import { canBeWoken } from '../../../shared/domain/lifecycle.ts';
import { t } from '../../language/t.ts';
import { wakeQueries } from '../../state/wakes.ts';
import type { Paged } from '../../state/pages.ts';
import { useActions, usePending, useRoost } from '../context.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { useNow } from '../hooks.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { PATHS } from '../routes.ts';
import { Moment } from '../parts/moment.tsx';
import { Mark } from '../shell/mark.tsx';
import { dayAndClock } from '../text/time.ts';
import { useNames, useSomebody } from '../use-somebody.ts';
import './inbox.css';
import { useAction } from '../design/use-action.ts';

/** Number of messages in this agent's inbox; null: unknown yet. */
export function useUnreadMessages(agentId: AgentId): number | null {
  const { unreadMessages } = useRoost();
  return useStore(unreadMessages.store, (state) => (state.kind === 'ready' ? (state.value[agentId] ?? 0) : null));
}

/**
 * Wakes an agent whose inbox has unread messages. Nothing else may ever wake it: the gate may have
 * stopped the wake that came with a message, and not every agent has a routine.
 */
export function WakeToRead({ agentId }: { agentId: AgentId }) {
  const actions = useActions();
  const busy = usePending((state) => state.call !== null);
  const unread = useUnreadMessages(agentId) ?? 0;
  const somebody = useSomebody(agentId);
  if (unread === 0 || somebody.kind !== 'agent') return null;
  const { agent, state, working } = somebody.seat;
  if (!agent || working || !canBeWoken(state)) return null;
  return (
    <button type="button" className="ghost ghost-dawn" disabled={busy} onClick={() => void actions.wake([agent])}>
      {t`Wake ${somebody.name}`}
    </button>
  );
}

/** Characters of a message that are shown at first. */
const SHOWN = 700;

/** The purpose of an agent's message; null: needs no label. */
const TYPE = {
  info: null,
  help_request: t`Asks for help`,
  review_request: t`Asks for a review`,
  unblock: t`Unblocks`,
} as const;
const PRIORITY = { normal: null, high: t`High`, urgent: t`Urgent` } as const;

/** One message in an inbox: sender, time, urgency, and by which run it was read, and when. */
function InboxMessageView({ message, now }: { message: InboxMessage; now: number }) {
  const name = useNames();
  const sender = useSomebody(message.from);
  const [whole, setWhole] = useState(false);
  const priority = PRIORITY[message.priority];
  const long = message.text.length > SHOWN * 1.25;
  return (
    <li
      className="inbox-message gap-5 pad-5 box stack text-3 tint"
      data-read={message.read !== null}
      style={{ '--c': sender.kind === 'nobody' ? 'var(--ink-3)' : sender.color }}
    >
      <span className="inbox-message-face size-m block" data-from={message.from} aria-hidden="true">
        {message.from === 'relay' ? <Mark /> : <FaceOf agentId={message.from} />}
      </span>
      <div className="narrow">
        <p className="gap-3 flex baseline wrap">
          <b className="break named" dir="auto">
            {name(message.from)}
          </b>
          {priority && (
            <span className="tag" data-priority={message.priority}>
              {priority}
            </span>
          )}
          {message.type && TYPE[message.type] && <span className="tag">{TYPE[message.type]}</span>}
          {message.threadId !== null && (
            <Link href={PATHS.thread(message.threadId)} className="tag">{t`in a thread`}</Link>
          )}
          <Moment time={message.time}>{dayAndClock(message.time, now)}</Moment>
        </p>
        <p className="inbox-message-text above-2 ink plain leading-5" dir="auto">
          {long && !whole ? `${message.text.slice(0, SHOWN)}…` : message.text}
        </p>
        {long && (
          <button type="button" className="link-button" onClick={() => setWhole(!whole)}>
            {whole ? t`Show less` : t`Show all`}
          </button>
        )}
        <p className="above-3 text-2 figures ink-3">
          {message.read === null ? (
            <>
              <i className="dot" aria-hidden="true" /> {t`Unread`}
            </>
          ) : (
            <span>{t`Read ${<Moment time={message.read.time}>{dayAndClock(message.read.time, now)}</Moment>}`}</span>
          )}
        </p>
      </div>
    </li>
  );
}

/** Loads older rows, as long as there are any. */
export function OlderButton({ paged, label }: { paged: Paged<unknown>; label: string }) {
  const { notices } = useRoost();
  const { busy, act } = useAction();
  const older = () =>
    act(async () => {
      const wrong = await paged.pages.older();
      if (wrong !== null) notices.error(wrong);
    });
  return (
    <button type="button" className="ghost end above-5 flex" aria-disabled={busy} onClick={older}>
      {busy ? t`Loading…` : label}
    </button>
  );
}

function InboxMessages({ messages, label }: { messages: readonly InboxMessage[]; label: string }) {
  const now = useNow();
  if (messages.length === 0) return <p className="text-3 ink-3">{t`Messages to this agent appear here.`}</p>;
  return (
    <ul className="inbox-messages gap-4 stack" aria-label={label}>
      {messages.map((one) => (
        <InboxMessageView key={one.messageId} message={one} now={now} />
      ))}
    </ul>
  );
}

/** All messages in an agent's inbox, newest first. `first`: only this many, without paging. */
export function Inbox({ agentId, name, first }: { agentId: AgentId; name: string; first?: number }) {
  const query = wakeQueries(useRoost()).inbox(agentId);
  return (
    <QueryView query={query}>
      {({ rows, more }) => (
        <>
          <InboxMessages messages={first === undefined ? rows : rows.slice(0, first)} label={t`Inbox of ${name}`} />
          {first === undefined && more && <OlderButton paged={query} label={t`Show more`} />}
        </>
      )}
    </QueryView>
  );
}
