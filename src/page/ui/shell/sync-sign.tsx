/** A sign in the header for the state of the other devices. */
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { t } from '../../language/t.ts';
import { useDevices, useRoost } from '../context.tsx';
import { DevicesIcon } from '../design/more-icons.tsx';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';

/** Has this been true for `ms` without interruption? Shorter states are not shown. */
function useHeldFor(holds: boolean, ms: number): boolean {
  const { device } = useRoost();
  const [held, setHeld] = useState(false);
  if (!holds && held) setHeld(false);
  useEffect(() => (holds ? device.after(ms, () => setHeld(true)) : undefined), [holds, ms, device]);
  return holds && held;
}

/** ms for which the relay may lack something before that is shown. */
const NOT_HANDED_OVER_MS = 60_000;
/** ms: shorter downloads are not shown. */
const CATCHING_UP_MS = 2_000;

const toSendOf = (status: SyncStatus | null) => (status?.kind === 'shared' ? status.toSend : 0);
const backlogOf = (status: SyncStatus | null) => (status?.kind === 'shared' ? status.backlog : null);

/**
 * The state of the other devices, only while it matters: `short` is visible, `whole` is for screen
 * readers.
 */
function useSign(): { readonly short: string; readonly whole: string } | null {
  const removed = useDevices(({ status }) => status?.kind === 'removed');
  const toSend = useDevices(({ status }) => toSendOf(status));
  const backlog = useDevices(({ status }) => backlogOf(status));
  const waiting = useHeldFor(toSend > 0, NOT_HANDED_OVER_MS);
  const catching = useHeldFor(backlog !== null, CATCHING_UP_MS);
  if (removed) return { short: t`Removed`, whole: t`This device was removed.` };
  if (catching && backlog) {
    const share = backlog.of > 0 ? ` ${Math.min(100, Math.floor((backlog.done / backlog.of) * 100))} %` : '…';
    return { short: t`Catching up${share}`, whole: t`Catching up${'…'}` };
  }
  if (waiting)
    return {
      short: t`${plural(toSend, 'entry', 'entries')} waiting`,
      whole: t`Not everything is synced yet`,
    };
  return null;
}

/** A small sign; nothing while all is well. */
export default function SyncSign() {
  const sign = useSign();
  return (
    <>
      {sign && (
        <Link href={PATHS.settings('devices')} className="sync-sign pill lifts unlined figures" title={sign.whole}>
          <DevicesIcon />
          <span>{sign.short}</span>
        </Link>
      )}
      {/* Announced once: changing numbers are not read out. */}
      <span className="visually-hidden" role="status">
        {sign?.whole ?? ''}
      </span>
    </>
  );
}
