import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import { OpenThreads, openThreadsOf } from '../agent/open-threads.tsx';
import { CredentialList } from '../clients/credential-list.tsx';
import { MakeCredential } from '../clients/make-credential.tsx';
import { useRoost } from '../context.tsx';
import { exportAgentFile } from '../copies/later.ts';
import '../clients/clients.css';
import { Inbox } from '../inbox/inbox.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { PATHS } from '../routes.ts';
import { useThreads } from '../threads/use-threads.ts';
import { useTeammates } from '../use-teammates.ts';
import { Budget } from '../wakes/budget.tsx';

/** Messages of its inbox that stand here. */
const NEWEST = 3;

interface Props {
  readonly agentId: AgentId;
  readonly name: string;
  readonly retired: boolean;
}

function Threads({ agentId, name }: Props) {
  return (
    <section aria-label={t`Threads`}>
      <h3>{t`Threads`}</h3>
      <QueryView query={useThreads().list} what={t`The list of threads`}>
        {(list) => {
          const open = openThreadsOf(agentId, list);
          return (
            <>
              {open.length === 0 && <p className="quiet">{t`${name} is in no open thread.`}</p>}
              <OpenThreads open={open} agentId={agentId} />
            </>
          );
        }}
      </QueryView>
    </section>
  );
}

function Clients({ agentId, name }: Props) {
  const team = useTeammates();
  return (
    <section aria-label={t`API clients`}>
      <h3>{t`API clients`}</h3>
      <CredentialList agentId={agentId} team={team} />
      <details className="agent-make">
        <summary>{t`Let a program act as ${name}…`}</summary>
        <MakeCredential among={[team.find(agentId)]} />
        <p className="agent-ways">
          <Link href={PATHS.settings('clients')}>{t`What it may do`}</Link>
        </p>
      </details>
    </section>
  );
}

const ForgetDialog = lazy(() => import('../agent/forget-dialog.tsx'));

/** Taking a copy of an agent, and letting go. */
function Keeping({ agentId, name }: { agentId: AgentId; name: string }) {
  const state = useRoost();
  const [asking, setAsking] = useState<ForgetDoc['target']['kind'] | null>(null);
  return (
    <section className="keeping" aria-label={t`Copies, and letting go`}>
      <h3>{t`Copies, and letting go`}</h3>
      <button
        type="button"
        className="ghost"
        onClick={() => void exportAgentFile(state, agentId, name)}
      >{t`Export ${name} as a zip`}</button>
      <button
        type="button"
        className="ghost"
        onClick={() => setAsking('conversation')}
      >{t`Forget this conversation…`}</button>
      {agentId !== LEAD_ID && (
        <button
          type="button"
          className="ghost ghost-danger"
          onClick={() => setAsking('agent')}
        >{t`Forget ${name}…`}</button>
      )}
      {asking && (
        <Suspense fallback={null}>
          <ForgetDialog agentId={agentId} kind={asking} onClose={() => setAsking(null)} />
        </Suspense>
      )}
    </section>
  );
}

/**
 * What else belongs to an agent: its inbox, threads, files and clients, what it may be woken for,
 * and letting it go.
 */
export function MoreTab(props: Props) {
  const { agentId, name, retired } = props;
  return (
    <div className="portrait-more">
      <section aria-label={t`Inbox`}>
        <h3>{t`Inbox`}</h3>
        <Inbox agentId={agentId} name={name} first={NEWEST} />
        <p className="agent-ways">
          <Link href={PATHS.inbox(agentId)}>{t`The whole inbox`}</Link>
        </p>
      </section>
      <Threads {...props} />
      {!retired && (
        <section aria-label={t`Wakes`}>
          <h3>{t`Wakes`}</h3>
          <Budget agentId={agentId}>
            <Link href={PATHS.wakes(agentId)}>{t`Every wake`}</Link>
          </Budget>
        </section>
      )}
      <section aria-label={t`Files`}>
        <h3>{t`Files`}</h3>
        <p className="agent-ways">
          <Link href={PATHS.files(agentId)}>{t`What lies in the folder of ${name}`}</Link>
        </p>
      </section>
      {!retired && <Clients {...props} />}
      <Keeping agentId={agentId} name={name} />
    </div>
  );
}
