import { Link } from 'wouter';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { PauseIcon } from '../parts/icons.tsx';
import { PATHS } from '../routes.ts';

/** Does the household's switch let wakes pass? null: not known yet. */
export function useWakesOn(): boolean | null {
  const { limits } = useRoost();
  return useStore(limits.query.store, (state) => (state.kind === 'ready' ? state.value.effective.wakes_enabled : null));
}

/** Says that nobody but the person can wake anybody, for as long as that is so. */
export function WakesStopped() {
  const on = useWakesOn();
  return (
    <span role="status" className="wakes-stopped-slot">
      {on === false && (
        <Link href={PATHS.wakes()} className="wakes-stopped" title={t`Only you can wake anybody`}>
          <PauseIcon />
          <b>{t`Wakes stopped`}</b>
        </Link>
      )}
    </span>
  );
}
