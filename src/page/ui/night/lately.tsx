import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { onePerPage } from '../../state/per-page.ts';
import { t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { AccountList, accountOf } from './account-list.tsx';
import { pastLeftOutText } from './words.ts';
import './morning.css';

/** ms out of view, after which returning counts as opening the page. */
const AWAY_MS = 10 * 60_000;

// Per page and not per view: what happens while the page is open is not news later.
const openedOf = onePerPage(({ device }) => createStore<{ readonly at: number }>()(() => ({ at: device.now() })));

/** When the person opened the page, or returned to it after a while; ms since the epoch. */
export function useOpenedAt(): number {
  const state = useRoost();
  const opened = openedOf(state);
  useEffect(() => {
    const { device } = state;
    let hiddenAt: number | null = null;
    const look = () => {
      if (document.hidden) {
        hiddenAt = device.now();
        return;
      }
      if (hiddenAt !== null && device.now() - hiddenAt >= AWAY_MS) opened.setState({ at: device.now() });
      hiddenAt = null;
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [state, opened]);
  return useStore(opened, ({ at }) => at);
}

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
