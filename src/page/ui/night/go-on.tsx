import { useState } from 'react';
import type { RunId } from '../../../shared/domain/ids.ts';
import { canGoOn } from '../../../shared/domain/schedule/timing.ts';
import { t } from '../../language/t.ts';
import type { Occurrence } from '../../../shared/protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { useTeammates } from '../use-teammates.ts';
import { whatText } from './words.ts';

function GoOnButton({ run, runId }: { run: Occurrence; runId: RunId }) {
  const schedules = schedulesOf(useRoost());
  const mate = useTeammates().find(run.agentId);
  const [state, setState] = useState<'open' | 'asked' | 'begun'>('open');
  if (state === 'begun') return <small className="goes-on">{t`goes on`}</small>;
  const goOn = () => {
    if (state !== 'open') return;
    setState('asked');
    schedules.goOn(runId).then(
      (goes) => setState(goes ? 'begun' : 'open'),
      () => setState('open'),
    );
  };
  return (
    <button
      type="button"
      className="ghost go-on"
      aria-label={t`Let it go on: ${mate.name}, ${whatText(run)}`}
      disabled={state === 'asked'}
      onClick={goOn}
    >{t`Let it go on`}</button>
  );
}

/**
 * Lets an agent go on with a run that did not come to its end; says so where it did. Nothing for
 * any other.
 */
export function GoOn({ run }: { run: Occurrence }) {
  if (run.continuedBy !== null) return <small className="goes-on">{t`a later run went on with it`}</small>;
  return run.runId !== null && canGoOn(run) ? <GoOnButton key={run.runId} run={run} runId={run.runId} /> : null;
}
