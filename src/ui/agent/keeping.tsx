import { useState } from 'react';
import { LEAD_ID } from '../../domain/seat.ts';
import type { ForgetDoc } from '../../protocol/documents.ts';
import { useRoost } from '../context.tsx';
import { exportAgentFile } from '../copies/later.ts';
import { ForgetDialog } from './forget-dialog.tsx';

/** Taking a copy of an agent, and letting go: at the end of its page. */
export function Keeping({ agentId, name }: { agentId: string; name: string }) {
  const state = useRoost();
  const [asking, setAsking] = useState<ForgetDoc['target']['kind'] | null>(null);
  return (
    <div className="keeping">
      <h3>Copies, and letting go</h3>
      <button type="button" className="ghost" onClick={() => void exportAgentFile(state, agentId, name)}>
        Export {name} as a zip
      </button>
      <button type="button" className="ghost" onClick={() => setAsking('conversation')}>
        Forget this conversation…
      </button>
      {agentId !== LEAD_ID && (
        <button type="button" className="ghost ghost-danger" onClick={() => setAsking('agent')}>
          Forget {name}…
        </button>
      )}
      {asking && <ForgetDialog agentId={agentId} kind={asking} onClose={() => setAsking(null)} />}
    </div>
  );
}
