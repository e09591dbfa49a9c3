/** The page of threads: the list, and the selected thread. */
import { useState, type FormEvent } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Thread } from '../../../shared/protocol/threads.ts';
import { THREADS_LISTED } from '../../state/threads/index.ts';
import '../chat/conversation.css';
import { ThreadsIcon } from '../design/more-icons.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { PATHS, useRoute, type Route } from '../routes.ts';
import { useTeammates } from '../use-somebody.ts';
import { useNow, useTitle } from '../hooks.ts';
import { asBeginning, names, plural } from '../text/sizes.ts';
import { dayOrClock, fullTime } from '../text/time.ts';
import { Faces, ThreadView } from './thread-view.tsx';
import { useNewInThread, useThreads } from './use-threads.ts';
import './threads.css';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { Face } from '../grid/face.tsx';
import { Dialog } from '../design/dialog.tsx';
import { EmptyPage } from '../design/list.tsx';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/** The error of a new thread's input, or null. */
function wrongWith(title: string, participants: number): string | null {
  if (title === '') return t`It needs a name.`;
  if (title.length > LIMITS.threadTitle) return t`At most ${LIMITS.threadTitle} characters.`;
  if (participants === 0) return t`Choose the members.`;
  if (participants > LIMITS.threadParticipants) return t`${t`Members`}: ${t`At most ${LIMITS.threadParticipants}.`}`;
  return null;
}

/** Starts a thread: its subject and its participants. */
function BeginDialog({ chosen: first, onClose }: { chosen: readonly string[]; onClose: () => void }) {
  const threads = useThreads();
  const team = useTeammates();
  const { go } = useRoute();
  const able = team.all.filter(({ retired }) => !retired);
  const [title, setTitle] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(first.filter((id) => able.some(({ agentId }) => agentId === id))),
  );
  const { busy, failed, act } = useAction();
  const wrong = wrongWith(title.trim(), chosen.size);
  const [tried, setTried] = useState(false);
  const begin = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (wrong !== null) return;
    const among = able.flatMap(({ agentId }) => (chosen.has(agentId) ? [agentId] : []));
    act(async () => {
      const made = await threads.create(title.trim(), among);
      return made.ok ? go(PATHS.thread(made.threadId)) : t`Could not do this. ${made.reason}`;
    });
  };
  const toggle = (agentId: AgentId) =>
    setChosen((held) => {
      const next = new Set(held);
      if (!next.delete(agentId)) next.add(agentId);
      return next;
    });
  return (
    <Dialog title={t`Begin a thread`} onClose={onClose}>
      <form className="thread-form gap-5 stack ink-2 text-3" noValidate onSubmit={begin}>
        <label>
          <span className="block under-3 medium ink">{t`Title`}</span>
          <input
            className="field"
            dir="auto"
            autoComplete="off"
            value={title}
            aria-invalid={tried && title.trim() === ''}
            onChange={(event) => setTitle(event.target.value)}
          />
        </label>
        <fieldset>
          <legend className="block under-3 medium ink">{t`Members`}</legend>
          <ul className="tiles-s stack gap-4">
            {able.map(({ agentId, name, face, color }) => (
              <li key={agentId}>
                <label className="picks touchable gap-4 box line tint pad-2-5" style={{ '--c': color }}>
                  <input type="checkbox" checked={chosen.has(agentId)} onChange={() => toggle(agentId)} />
                  <Face agentId={agentId} face={face} color={color} awake={false} />
                  <span className="named agent-name narrow break" dir="auto">
                    {name}
                  </span>
                </label>
              </li>
            ))}
          </ul>
        </fieldset>
        <p className="setting-hint">{t`Name an agent with @ to notify it.`}</p>
        <WrongNote text={(tried ? wrong : null) ?? failed} />
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="submit" className="solid" disabled={busy}>
            {busy ? t`Working…` : t`Begin`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Line({ thread, current, unread, now }: { thread: Thread; current: boolean; unread: number; now: number }) {
  const team = useTeammates();
  const people = team.among(thread.participants);
  return (
    <li>
      <Link
        href={PATHS.thread(thread.threadId)}
        className="thread-line lights gap-4 relative pad-5 unlined stack baseline ink-2 round"
        aria-current={current ? 'page' : undefined}
        data-unread={unread > 0}
        data-closed={thread.closed !== null}
      >
        <span className="thread-line-title truncate ink text-4" dir="auto">
          {thread.title}
        </span>
        <time
          className="ink-3 text-1"
          dateTime={new Date(thread.lastTime).toISOString()}
          title={fullTime(thread.lastTime)}
        >
          {dayOrClock(thread.lastTime, now)}
        </time>
        <span className="thread-line-who gap-4 line narrow ink-3 text-2">
          <Faces people={people} />
          <span className="truncate" dir="auto">
            {people.length === 0 ? t`no members` : names(people.map(({ name }) => name))}
          </span>
        </span>
        {unread > 0 && (
          <span className="badge">
            {unread}
            <span className="visually-hidden"> {t`not read yet`}</span>
          </span>
        )}
      </Link>
    </li>
  );
}

/** Open threads first, then closed ones, each newest first. */
function ThreadList({ threads, current }: { threads: readonly Thread[]; current: string | null }) {
  const newIn = useNewInThread();
  const now = useNow();
  const newest = [...threads].sort((a, b) => b.lastTime - a.lastTime);
  const groups = [
    { key: 'open', title: t`Open`, list: newest.filter(({ closed }) => closed === null) },
    { key: 'closed', title: asBeginning(t`closed`), list: newest.filter(({ closed }) => closed !== null) },
  ];
  return groups.map(
    ({ key, title, list }) =>
      list.length > 0 && (
        <section key={key} aria-label={`${title}: ${plural(list.length, 'thread')}`}>
          <h2 className="thread-group eyebrow text-1 ink-3">{title}</h2>
          {/* Safari drops the list role of a list without markers, unless the role is explicit. */}
          {/* eslint-disable-next-line jsx-a11y/no-redundant-roles */}
          <ul role="list">
            {list.map((thread) => (
              <Line
                key={thread.threadId}
                thread={thread}
                current={thread.threadId === current}
                unread={newIn(thread)}
                now={now}
              />
            ))}
          </ul>
        </section>
      ),
  );
}

type ThreadsRoute = Extract<Route, { kind: 'threads' }>;

function Nothing({ whose }: { whose: string | null }) {
  return (
    <EmptyPage icon={<ThreadsIcon />} title={whose === null ? t`No threads yet` : t`${whose} is in no thread`}>
      <p>{t`In a thread several agents talk with each other. You can read and write in all of them.`}</p>
    </EmptyPage>
  );
}

function Column({ list, of, current }: { list: readonly Thread[]; of: string | null; current: string | null }) {
  const team = useTeammates();
  const shown =
    of === null ? list : list.filter(({ participants, createdBy }) => participants.includes(of) || createdBy === of);
  return (
    <>
      {of !== null && (
        <p className="flex apart ink-2 text-3">
          {asBeginning(t`with ${team.find(of).name}`)} <Link href={PATHS.threads}>{t`Show all`}</Link>
        </p>
      )}
      {shown.length === 0 ? (
        <Nothing whose={of === null ? null : team.find(of).name} />
      ) : (
        <ThreadList threads={shown} current={current} />
      )}
      {list.length >= THREADS_LISTED && (
        <p className="query-quiet ink-3 text-3">{t`Only the newest ${THREADS_LISTED} threads. Search finds older ones.`}</p>
      )}
    </>
  );
}

/** All threads, and the selected one beside them. On a phone, one or the other. */
export default function ThreadsPage({ route }: { route: ThreadsRoute }) {
  const { go } = useRoute();
  const threads = useThreads();
  const { threadId, of, begin } = route;
  const [openedWith] = useState(threadId);
  useTitle(threadId === null ? t`Threads` : null);
  return (
    <div className="threads stack full-height" data-open={threadId !== null}>
      <nav className="threads-list shrinks scroll" aria-label={t`Threads`}>
        <header className="threads-head line apart gap-5">
          <h1 tabIndex={-1}>{t`Threads`}</h1>
          <Link href={PATHS.newThread(of === null ? [] : [of])} className="ghost ghost-dawn">{t`Begin a thread`}</Link>
        </header>
        <QueryView query={threads.list}>{(list) => <Column list={list} of={of} current={threadId} />}</QueryView>
      </nav>
      <section className="chat shrinks column-wise narrow thread ruled-start" aria-label={t`Thread`}>
        {threadId === null ? (
          <p className="thread-choose ink-3">{t`Choose a thread.`}</p>
        ) : (
          <ThreadView key={threadId} threadId={threadId} at={route.at} takeFocus={threadId !== openedWith} />
        )}
      </section>
      {begin && <BeginDialog chosen={begin} onClose={() => go(PATHS.threads)} />}
    </div>
  );
}
