import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Thread } from '../../../shared/protocol/threads.ts';
import { PATHS } from '../routes.ts';
import { useNewInThread } from '../threads/use-threads.ts';

import './agent.css';

/** Threads that are listed here. A link leads to the others. */
const SHOWN = 5;

/** The open threads in which this agent takes part, newest first. */
export const openThreadsOf = (agentId: AgentId, list: readonly Thread[]): readonly Thread[] =>
  list
    .filter(({ participants, closed }) => closed === null && participants.includes(agentId))
    .toSorted((a, b) => b.lastTime - a.lastTime);

/** Some of an agent's open threads with their unread messages, and a link to the others. */
export function OpenThreads({ open, agentId }: { open: readonly Thread[]; agentId: AgentId }) {
  const newIn = useNewInThread();
  return (
    <>
      <ul className="agent-threads one-column stack gap-1">
        {open.slice(0, SHOWN).map((thread) => {
          const unread = newIn(thread);
          return (
            <li className="flex baseline apart gap-4" key={thread.threadId}>
              <Link href={PATHS.thread(thread.threadId)} dir="auto">
                {thread.title}
              </Link>
              {unread > 0 && <small className="nowrap">{t`${unread} new`}</small>}
            </li>
          );
        })}
      </ul>
      <p className="gap-4 above-3 flex wrap text-2">
        <Link href={PATHS.threadsOf(agentId)}>{t`All threads`}</Link>
        <Link href={PATHS.newThread([agentId])}>{t`Begin a thread`}</Link>
      </p>
    </>
  );
}
