import { Link } from 'wouter';
import type { SyncStatus } from '../../protocol/sync/page.ts';
import { useDevices } from '../context.tsx';
import { DevicesIcon } from '../parts/icons.tsx';
import { PATHS } from '../places.ts';
import { plural } from '../text/sizes.ts';
import { useHeldFor } from '../use-held-for.ts';

/** ms: the relay lacks something for so long before it is worth a word. */
const NOT_HANDED_OVER_MS = 60_000;
/** ms: fetching that is over sooner is not spoken of. */
const CATCHING_UP_MS = 2_000;

const toSendOf = (status: SyncStatus | null) => (status?.kind === 'shared' ? status.toSend : 0);
const backlogOf = (status: SyncStatus | null) => (status?.kind === 'shared' ? status.backlog : null);

/** What is said of the other devices, only while it matters: `short` is seen, `whole` is read out. */
function useSign(): { readonly short: string; readonly whole: string } | null {
  const removed = useDevices(({ status }) => status?.kind === 'removed');
  const toSend = useDevices(({ status }) => toSendOf(status));
  const backlog = useDevices(({ status }) => backlogOf(status));
  const waiting = useHeldFor(toSend > 0, NOT_HANDED_OVER_MS);
  const catching = useHeldFor(backlog !== null, CATCHING_UP_MS);
  if (removed) return { short: 'Removed', whole: 'This device was removed from your devices' };
  if (catching && backlog) {
    const share = backlog.of > 0 ? ` ${Math.min(100, Math.floor((backlog.done / backlog.of) * 100))} %` : '…';
    return { short: `Catching up${share}`, whole: 'Catching up with your other devices' };
  }
  if (waiting)
    return {
      short: `${plural(toSend, 'entry', 'entries')} waiting`,
      whole: 'Not everything is handed to your other devices yet',
    };
  return null;
}

/** A small sign of how it stands with the other devices; nothing while all is well. */
export function SyncSign() {
  const sign = useSign();
  return (
    <>
      {sign && (
        <Link href={PATHS.settings('devices')} className="sync-sign" title={sign.whole}>
          <DevicesIcon />
          <span>{sign.short}</span>
        </Link>
      )}
      {/* Said once: figures that run are not read out. */}
      <span className="visually-hidden" role="status">
        {sign?.whole ?? ''}
      </span>
    </>
  );
}
