import { useState } from 'react';
import type { WakeDecision } from '../../protocol/wakes.ts';
import { reachQueries } from '../../state/reach-queries.ts';
import { useRoost } from '../context.tsx';
import { OlderButton } from '../inbox/inbox.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { dayName } from '../text/time.ts';
import { useNames } from '../use-names.ts';
import { useNow } from '../use-now.ts';
import { WakeRow } from './wake-row.tsx';

/** Newest first, by day of the reader. */
function byDay(wakes: readonly WakeDecision[], now: number): { day: string; wakes: WakeDecision[] }[] {
  const days: { day: string; wakes: WakeDecision[] }[] = [];
  for (const wake of wakes) {
    const day = dayName(wake.time, now);
    const last = days.at(-1);
    if (last?.day === day) last.wakes.push(wake);
    else days.push({ day, wakes: [wake] });
  }
  return days;
}

function Days({ wakes }: { wakes: readonly WakeDecision[] }) {
  const now = useNow();
  const nameOf = useNames();
  const [open, setOpen] = useState<string | null>(null);
  return byDay(wakes, now).map(({ day, wakes: list }) => (
    <section key={day} className="wake-day" aria-label={day}>
      <h3>{day}</h3>
      <ul className="wakes">
        {list.map((wake) => (
          <WakeRow
            key={wake.decisionId}
            wake={wake}
            nameOf={nameOf}
            open={wake.decisionId === open}
            onToggle={() => setOpen(wake.decisionId === open ? null : wake.decisionId)}
          />
        ))}
      </ul>
    </section>
  ));
}

/** Every wake that was asked for, newest first, and what came of it. It goes on by itself. */
export function WakeFeed({ agentId }: { agentId: string | null }) {
  const nameOf = useNames();
  const query = reachQueries(useRoost()).wakes(agentId);
  return (
    <QueryView query={query} what="The wakes">
      {({ rows, more }) =>
        rows.length === 0 ? (
          <p className="wakes-empty">
            {agentId === null
              ? 'No wake was ever asked for. When an agent needs another, you see here that it asked, what was checked, and what came of it.'
              : `${nameOf(agentId)} was never asked for.`}
          </p>
        ) : (
          <>
            <Days wakes={rows} />
            {more && <OlderButton paged={query} label="Older wakes" />}
          </>
        )
      }
    </QueryView>
  );
}
