/** What waits for the person, and what is new. */
import { useEffect } from 'react';
import { Link } from 'wouter';
import { retold, t } from '../../language/t.ts';
import { callsOf } from '../../state/calls.ts';
import { askBarOf, showsElsewhere } from '../../state/waiting.ts';
import { ApprovalCard } from '../calls/card.tsx';
import { useRoost, useUnread } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { PageHead, QueryView } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { newCount } from '../text/reasons.ts';
import { useNewInThread, useThreads } from '../threads/use-threads.ts';
import { useTeammates } from '../use-somebody.ts';
import './inbox.css';

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
  return (
    <section aria-labelledby="inbox-new">
      <h2 id="inbox-new">{t`Unread`}</h2>
      {rows.length === 0 ? (
        <p className="query-quiet">{t`Nothing new.`}</p>
      ) : (
        <ul className="inbox-rows">
          {rows.map(({ key, name, count, path }) => (
            <li key={key}>
              <Link href={path}>
                <span dir="auto">{name}</span> <b>{count}</b>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <p className="agent-ways">
        <Link href={PATHS.threads}>{t`All threads`}</Link>
      </p>
    </section>
  );
}

export default function InboxPage({ onClose }: { onClose: () => void }) {
  const roost = useRoost();
  useEffect(() => showsElsewhere(askBarOf(roost), ''), [roost]);
  return (
    <div className="calls">
      <PageHead title={t`Inbox`} onClose={onClose} />
      <QueryView query={callsOf(roost).approvals} what={t`What waits for you`}>
        {({ waiting, sandbox }) => (
          <>
            <section aria-labelledby="inbox-waiting">
              <h2 id="inbox-waiting">{t`Waits for you`}</h2>
              {waiting.length === 0 && <p className="query-quiet">{t`Nothing is waiting for you.`}</p>}
              {waiting.map((call) => (
                <ApprovalCard key={call.callId} call={call} oneClick />
              ))}
            </section>
            {sandbox.why !== null && <p className="call-note">{retold(sandbox.why)}</p>}
          </>
        )}
      </QueryView>
      <News />
    </div>
  );
}
