import { Link } from 'wouter';
import type { Thread } from '../../protocol/threads.ts';
import { PATHS } from '../places.ts';
import { names, plural } from '../text/sizes.ts';
import { dayOrClock, fullTime } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { useTeammates } from '../use-teammates.ts';
import { Faces } from './faces.tsx';
import { useNewInThread } from './use-threads.ts';

function Line({ thread, current, unread, now }: { thread: Thread; current: boolean; unread: number; now: number }) {
  const team = useTeammates();
  const people = team.among(thread.participants);
  return (
    <li>
      <Link
        href={PATHS.thread(thread.threadId)}
        className="thread-line"
        aria-current={current ? 'page' : undefined}
        data-unread={unread > 0}
        data-closed={thread.closed !== null}
      >
        <span className="thread-line-title" dir="auto">
          {thread.title}
        </span>
        <time dateTime={new Date(thread.lastTime).toISOString()} title={fullTime(thread.lastTime)}>
          {dayOrClock(thread.lastTime, now)}
        </time>
        <span className="thread-line-who">
          <Faces people={people} />
          <span dir="auto">
            {people.length === 0 ? 'nobody takes part any more' : names(people.map(({ name }) => name))}
          </span>
        </span>
        {unread > 0 && (
          <span className="thread-badge">
            {unread}
            <span className="visually-hidden"> not read yet</span>
          </span>
        )}
      </Link>
    </li>
  );
}

/** Open threads first, then those that are closed; the newest at the top of each. */
export function ThreadList({ threads, current }: { threads: readonly Thread[]; current: string | null }) {
  const newIn = useNewInThread();
  const now = useNow();
  const newest = [...threads].sort((a, b) => b.lastTime - a.lastTime);
  const groups = [
    { key: 'open', title: 'Open', list: newest.filter(({ closed }) => closed === null) },
    { key: 'closed', title: 'Closed', list: newest.filter(({ closed }) => closed !== null) },
  ];
  return groups.map(
    ({ key, title, list }) =>
      list.length > 0 && (
        <section key={key} aria-label={`${title}: ${plural(list.length, 'thread')}`}>
          <h2 className="thread-group">{title}</h2>
          {/* Without marks a list is none to Safari, unless it is called one. */}
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
