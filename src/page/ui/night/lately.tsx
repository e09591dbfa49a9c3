import { useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { AccountList, accountOf } from './account-list.tsx';
import { pastLeftOutText } from './words.ts';
import './morning.css';

/** The longest period that the relay reports at once. */
const HOURS = 168;

/** What one agent, or all, did by themselves in these days. */
export function LatelyAccount({ agentId }: { agentId: AgentId | null }) {
  const query = schedulesOf(useRoost()).timeline(HOURS);
  return (
    <QueryView query={query} what={t`What they did`}>
      {(timeline) => {
        const lines = accountOf(timeline.occurrences, 0, Infinity).filter(
          (line) => agentId === null || line.agentId === agentId,
        );
        return (
          <>
            {lines.length === 0 ? <p className="query-quiet">{t`Nothing.`}</p> : <AccountList lines={lines} />}
            {timeline.leftOut?.occurrences === true && <p className="query-quiet">{pastLeftOutText(timeline)}</p>}
          </>
        );
      }}
    </QueryView>
  );
}

/** The content of the card above the grid, and more, after that is dismissed. */
export function Lately({ agentId }: { agentId: AgentId | null }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="night-lately" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t`What happened in the last 7 days`}</summary>
      {open && <LatelyAccount agentId={agentId} />}
    </details>
  );
}
