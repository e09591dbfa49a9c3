import { useState } from 'react';
import { t } from '../../language/t.ts';
import type { Timeline } from '../../../shared/protocol/endpoints/schedules.ts';
import type { Scheduled } from '../../../shared/protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { count } from '../text/sizes.ts';
import { useQuery } from '../use-query.ts';
import { useTeammates } from '../use-teammates.ts';
import { moveText, movesFor, SPREAD_HOURS } from './spread.ts';

interface Props {
  readonly scheduled: readonly Scheduled[];
  readonly now: number;
  readonly onClose: () => void;
}

/**
 * What is moved so that nobody begins together: looked at first, then done, and set back with one
 * press.
 */
export function SpreadDialog({ scheduled, now, onClose }: Props) {
  const state = useRoost();
  const schedules = schedulesOf(state);
  const limits = useQuery(state.limits.query);
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  return (
    <Dialog title={t`Draw them apart`} onClose={onClose}>
      <QueryView query={schedules.timeline(SPREAD_HOURS)} what={t`The timeline`}>
        {(timeline) =>
          zone === null ? (
            <p className="query-quiet">{t`Reading when they are due…`}</p>
          ) : (
            <Moves {...{ scheduled, timeline, zone, now, onClose }} />
          )
        }
      </QueryView>
    </Dialog>
  );
}

const times = (n: number) => (n === 1 ? t`once` : t`${count(n)} times`);

function Moves({ scheduled, timeline, zone, now, onClose }: Props & { timeline: Timeline; zone: string }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  const [moves] = useState(() => movesFor(scheduled, timeline, zone, now));
  const [busy, setBusy] = useState(false);
  const move = async () => {
    if (busy) return;
    setBusy(true);
    const held = await schedules.setTimings(
      moves.map(({ scheduled: { scheduleId }, before, after }) => ({ scheduleId, before, after })),
    );
    setBusy(false);
    if (held) onClose();
  };
  return (
    <div className="spread">
      {moves.length === 0 ? (
        <p>{t`Nothing can be moved by a little so that they begin apart: what is due once stays where it was put, and what comes every few minutes meets everybody.`}</p>
      ) : (
        <>
          <p>{t`In the next 7 days they begin together ${times(timeline.clashes.length)}. This moves the later ones by a few minutes, and nothing else:`}</p>
          <ul aria-label={t`What moves`}>
            {moves.map((one) => {
              const { agentId, name } = one.scheduled.schedule;
              const mate = team.find(agentId);
              return (
                <li key={one.id} className="tint" style={{ '--c': mate.color }}>
                  <span className="sheet-name" dir="auto">
                    {mate.name}
                  </span>{' '}
                  <strong dir="auto">{name}</strong>
                  <br />
                  {moveText(one, now)}
                </li>
              );
            })}
          </ul>
        </>
      )}
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onClose}>
          {moves.length === 0 ? t`Close` : t`Leave them`}
        </button>
        {moves.length > 0 && (
          <button type="button" className="solid" disabled={busy} onClick={() => void move()}>
            {busy ? t`Moving…` : t`Move them`}
          </button>
        )}
      </div>
    </div>
  );
}
