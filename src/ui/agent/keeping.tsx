import { lazy, Suspense, useState } from 'react';
import type { AgentId } from '../../domain/ids.ts';
import { LEAD_ID } from '../../domain/seat.ts';
import { t } from '../../language/t.ts';
import type { ForgetDoc } from '../../protocol/documents.ts';
import { useRoost } from '../context.tsx';
import { exportAgentFile } from '../copies/later.ts';

const ForgetDialog = lazy(() => import('./forget-dialog.tsx'));

/** Taking a copy of an agent, and letting go. */
export function Keeping({ agentId, name }: { agentId: AgentId; name: string }) {
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
