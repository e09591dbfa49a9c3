import { useEffect } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { showsElsewhere, askBarOf } from '../../state/waiting.ts';
import { useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { useQuery } from '../hooks.ts';
import { ApprovalCard } from './approval-card.tsx';

/** The agent's requests, above the composer. A postponed one takes one line. */
export default function WaitingApprovals({ agentId }: { agentId: AgentId }) {
  const roost = useRoost();
  const state = useQuery(approvalsOf(roost).approvals);
  useEffect(() => showsElsewhere(askBarOf(roost), agentId), [roost, agentId]);
  const waitingCalls = (state.kind === 'ready' ? state.value.waiting : []).filter((call) => call.agentId === agentId);
  const [first, ...rest] = waitingCalls.filter(({ later }) => !later);
  const others = rest.length + waitingCalls.filter(({ later }) => later).length;
  if (waitingCalls.length === 0) return null;
  return (
    <section className="call-waiting stack gap-4 scroll-y" aria-label={t`Waits for your answer`}>
      {first && <ApprovalCard key={first.callId} call={first} />}
      {others > 0 && (
        <p>
          <Link href={PATHS.inbox}>{first ? plural(others, 'more question') : plural(others, 'question')}</Link>
        </p>
      )}
    </section>
  );
}
