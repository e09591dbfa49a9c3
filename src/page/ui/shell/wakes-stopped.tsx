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
          className="wakes-stopped inline-flex rounded unlined warn-box gap-3 middle nowrap warn text-2 bold"
          title={t`Only you can wake anybody`}
        >
          <PauseIcon />
          <b>{t`Paused`}</b>
        </Link>
      )}
    </span>
  );
}
