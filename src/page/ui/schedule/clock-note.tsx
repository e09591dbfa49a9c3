import { useEffect } from 'react';
import { t } from '../../language/t.ts';
import { useActions, useInfo, useLive, useRoost } from '../context.tsx';
import { WarnIcon } from '../design/icons.tsx';
import { duration } from '../text/time.ts';
import './clock-note.css';

/** ms between checks. The note appears within two minutes after the clock has stopped. */
const REFRESH_MS = 20_000;

/** Warns that the scheduler's clock has stopped. The relay detects and reports it. */
export default function ClockNote() {
  const { device } = useRoost();
  const actions = useActions();
  const isLive = useLive(({ link }) => link.kind === 'live');
  const still = useInfo(({ health }) => health?.clock.standsStillMs ?? null);
  useEffect(() => {
    if (!isLive) return;
    let stop: () => void = () => undefined;
    const refresh = () => {
      stop = device.after(REFRESH_MS, () => void actions.refreshHealth().finally(refresh));
    };
    refresh();
    return () => stop();
  }, [device, actions, isLive]);
  if (!isLive || still === null) return null;
  return (
    <p className="clock-note at-top round-s pad warn-box text-2 flex gap-4 fixed warn" role="alert">
      <WarnIcon />{' '}
      {t`The relay’s clock has not run for ${duration(still)}. Nothing that is due begins. The relay tries again every minute; its log says why.`}
    </p>
  );
}

/** How long the clock had been stopped when the relay started, if it had. */
export function StoodNote() {
  const stood = useInfo(({ health }) => health?.clock.stoodMs ?? null);
  if (stood === null || stood < WORTH_SAYING_MS) return null;
  return (
    <p className="measure ink-2 text-3 pretty">{t`The relay had stopped for up to ${duration(stood)} before its last start. What was due then runs once, or counts as missed.`}</p>
  );
}
/** Stops shorter than this, in ms, are not shown. */
const WORTH_SAYING_MS = 60_000;
