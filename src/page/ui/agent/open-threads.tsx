import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Thread } from '../../../shared/protocol/threads.ts';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
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
      <ul className="agent-threads">
        {open.slice(0, SHOWN).map((thread) => {
          const unread = newIn(thread);
          return (
            <li key={thread.threadId}>
              <Link href={PATHS.thread(thread.threadId)} dir="auto">
                {thread.title}
              </Link>
              {unread > 0 && <small>{t`${unread} new`}</small>}
            </li>
          );
        })}
      </ul>
      <p className="agent-ways">
        <Link href={PATHS.threadsOf(agentId)}>
          {open.length > SHOWN ? t`All ${plural(open.length, 'open thread')}` : t`All threads`}
        </Link>
        <Link href={PATHS.newThread([agentId])}>{t`Begin one`}</Link>
      </p>
    </>
  );
}
