import { useState } from 'react';
import { clocksDiffer, wallTime } from '../../../shared/domain/zone-days.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import { useRoost } from '../context.tsx';
import { clockTime } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { useQuery } from '../use-query.ts';

/** ms: the times in it are of this minute. */
const EVERY_MS = 15_000;

/**
 * Says that the household goes by another clock than this browser, where it does. What is set for
 * 7:30 there is due at another time here.
 */
export function ZoneNote() {
  const { limits } = useRoost();
  const answer = useQuery(limits.query);
  const now = useNow(EVERY_MS);
  const [failed, setFailed] = useState<string | null>(null);
  const { timeZone: here } = new Intl.DateTimeFormat().resolvedOptions();
  const zone = answer.kind === 'ready' ? answer.value.effective.time_zone : here;
  if (!clocksDiffer(zone, here, now)) return null;
  const take = async () => {
    const set = await limits.change((own) => ({ ...own, time_zone: here }));
    setFailed(set.ok ? null : problemText(set.problem));
  };
  return (
    <p className="night-note" role="status">
      <span>{t`The household’s clock is that of ${zone}, where it is ${clockTime(now + wallTime(zone, now) - wallTime(here, now))}. This device is in ${here}, where it is ${clockTime(now)}.`}</span>{' '}
      <button type="button" className="link-button" onClick={() => void take()}>{t`Take ${here}`}</button>
      {failed !== null && <span> {failed}</span>}
    </p>
  );
}
