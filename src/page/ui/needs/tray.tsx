import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { callsOf } from '../../state/calls.ts';
import { trayOf } from '../../state/waiting.ts';
import { ApprovalCard } from '../calls/card.tsx';
import { asksText } from '../calls/words.ts';
import { useRoost, useUnread } from '../context.tsx';
import { keyOf } from '../design/keys.ts';
import { CloseIcon } from '../design/icons.tsx';
import { PATHS } from '../routes.ts';
import { newCount } from '../text/reasons.ts';
import { useQuery } from '../hooks.ts';
import { useTeammates } from '../use-somebody.ts';
import { useNewInThread, useThreads } from '../threads/use-threads.ts';
import './needs.css';

/** Unread messages in conversations and threads, with links. */
function News() {
  const { all } = useTeammates();
  const counts = useUnread((state) => state.counts);
  const threads = useQuery(useThreads().list);
  const newIn = useNewInThread();
  const rows = [
    ...all.flatMap(({ agentId, name }) => {
      const count = newCount([counts.get(agentId) ?? 0]);
      return count === '' ? [] : [{ key: agentId, name, count, path: PATHS.agent(agentId) }];
    }),
    ...(threads.kind === 'ready' ? threads.value : []).flatMap((thread) => {
      const count = newCount([newIn(thread)]);
      const { threadId, title } = thread;
      return count === '' ? [] : [{ key: threadId, name: title, count, path: PATHS.thread(threadId) }];
    }),
  ];
  if (rows.length === 0) return null;
  return (
    <section aria-label={t`New messages`}>
      <h3>{t`New messages`}</h3>
      <ul className="needs-news">
        {rows.map(({ key, name, count, path }) => (
          <li key={key}>
            <Link href={path}>
              <span dir="auto">{name}</span>
              <b>{count}</b>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/**
 * What needs the person, under the header of every page: questions that can be answered here, and
 * unread messages. It opens by itself for a question that is shown nowhere else on the page. It
 * then takes no focus and is no dialog, so it does not interrupt the person.
 */
export function Tray() {
  const roost = useRoost();
  const tray = trayOf(roost);
  const state = useQuery(callsOf(roost).approvals);
  const waiting = state.kind === 'ready' ? state.value.waiting : [];
  const { open, seen, elsewhere } = useStore(tray);
  const { find } = useTeammates();
  const ref = useRef<HTMLElement>(null);
  const isAsked = open === 'asked';
  const stands = (agentId: string) => ['', agentId].some((id) => (elsewhere.get(id) ?? 0) > 0);
  const fresh = waiting.filter((call) => !call.later && !seen.has(call.callId) && !stands(call.agentId));
  const isOpen = isAsked || fresh.length > 0;
  const shown = isAsked ? waiting : fresh;
  const first = fresh[0];

  useEffect(() => {
    if (isAsked) ref.current?.focus();
  }, [isAsked]);
  const close = () => {
    tray.setState({ open: 'put-away', seen: new Set(waiting.map(({ callId }) => callId)) });
    if (ref.current?.contains(document.activeElement)) document.querySelector<HTMLElement>('.needs-chip')?.focus();
  };
  return (
    <>
      <span className="visually-hidden" role="status">
        {first ? asksText(first, find(first.agentId).name) : ''}
      </span>
      {isOpen && (
        // Escape is a shortcut for its button.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
        <section
          ref={ref}
          className="needs-tray"
          aria-label={t`What needs you`}
          tabIndex={-1}
          onKeyDown={(event) => {
            if (keyOf(event) !== 'Escape') return;
            event.preventDefault();
            event.stopPropagation();
            close();
          }}
        >
          <header>
            <h2>{t`What needs you`}</h2>
            <button type="button" className="icon-button" aria-label={t`Put away`} title={t`Put away`} onClick={close}>
              <CloseIcon />
            </button>
          </header>
          {shown.map((call) => (
            <ApprovalCard key={call.callId} call={call} inTray />
          ))}
          {isAsked && <News />}
        </section>
      )}
    </>
  );
}
