import { Link } from 'wouter';
import type { AgentId } from '../../domain/ids.ts';
import { LEAD_ID } from '../../domain/seat.ts';
import type { Thread } from '../../protocol/threads.ts';
import { CredentialList } from '../clients/credential-list.tsx';
import { MakeCredential } from '../clients/make-credential.tsx';
import '../clients/clients.css';
import { AgentCosts } from '../costs/agent-costs.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { useNewInThread, useThreads } from '../threads/use-threads.ts';
import { useTeammates } from '../use-teammates.ts';

/** Threads that are shown here; the rest is a link away. */
const SHOWN = 5;

function OpenThreads({ list, agentId, name }: { list: readonly Thread[]; agentId: AgentId; name: string }) {
  const newIn = useNewInThread();
  const open = list
    .filter(({ participants, closed }) => closed === null && participants.includes(agentId))
    .sort((a, b) => b.lastTime - a.lastTime);
  return (
    <>
      {open.length === 0 && <p className="quiet">{name} is in no open thread.</p>}
      <ul className="agent-threads">
        {open.slice(0, SHOWN).map((thread) => {
          const unread = newIn(thread);
          return (
            <li key={thread.threadId}>
              <Link href={PATHS.thread(thread.threadId)} dir="auto">
                {thread.title}
              </Link>
              {unread > 0 && <small>{unread} new</small>}
            </li>
          );
        })}
      </ul>
      <p className="agent-ways">
        <Link href={PATHS.threadsOf(agentId)}>
          {open.length > SHOWN ? `All ${plural(open.length, 'open thread')}` : 'All threads'}
        </Link>
        <Link href={PATHS.newThread([agentId])}>Begin one</Link>
      </p>
    </>
  );
}

function AgentThreads({ agentId, name }: { agentId: AgentId; name: string }) {
  return (
    <div>
      <h3>Threads</h3>
      <QueryView query={useThreads().list} what="The list of threads">
        {(list) => <OpenThreads list={list} agentId={agentId} name={name} />}
      </QueryView>
    </div>
  );
}

function AgentClients({ agentId, name }: { agentId: AgentId; name: string }) {
  const team = useTeammates();
  return (
    <div>
      <h3>Other clients</h3>
      <CredentialList agentId={agentId} team={team} />
      <details className="agent-make">
        <summary>Let a program act as {name}…</summary>
        <MakeCredential among={[team.find(agentId)]} />
        <p className="agent-ways">
          <Link href={PATHS.settings('clients')}>What it may do</Link>
        </p>
      </details>
    </div>
  );
}

/** What an agent does beyond its own conversation: threads, costs, and programs that act as it. */
export default function Elsewhere({ agentId, name, retired }: { agentId: AgentId; name: string; retired: boolean }) {
  return (
    <>
      <AgentThreads agentId={agentId} name={name} />
      <div>
        <h3>Files</h3>
        <p className="agent-ways">
          <Link href={PATHS.files(agentId)}>What lies in the folder of {name}</Link>
        </p>
      </div>
      <AgentCosts agentId={agentId} name={name} />
      {agentId !== LEAD_ID && !retired && <AgentClients agentId={agentId} name={name} />}
    </>
  );
}
