import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { PauseIcon } from '../design/icons.tsx';
import { PATHS } from '../routes.ts';
import { useWakesOn } from './header.tsx';

/** Says that only the person can wake agents, while that is so. */
export default function WakesStopped() {
  const on = useWakesOn();
  return (
    <span role="status" className="wakes-stopped-slot">
      {on === false && (
        <Link
          href={PATHS.schedule()}
          className="wakes-stopped pill underlined unlined warn-box warn bold"
          aria-label={t`Paused`}
          title={t`Only you can wake agents`}
        >
          <PauseIcon />
          <b className="hide-small">{t`Paused`}</b>
        </Link>
      )}
    </span>
  );
}
