import { Dialog } from '../parts/dialog.tsx';
import AgentPage from './agent-page.tsx';
import type { AgentId } from '../../domain/ids.ts';

/** An agent's own page, where there is no room for it beside the conversation. */
export default function SoulDialog({
  agentId,
  name,
  onClose,
}: {
  agentId: AgentId;
  name: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={name} shape="side" onClose={onClose}>
      <AgentPage agentId={agentId} />
    </Dialog>
  );
}
