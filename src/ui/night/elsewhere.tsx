import { useState } from 'react';
import type { Scheduled } from '../../protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { plural } from '../text/sizes.ts';

/** What belongs to another relay of the household: how it comes here, and why it does not by itself. */
export function Elsewhere({ all }: { all: readonly Scheduled[] }) {
  const schedules = schedulesOf(useRoost());
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const away = all.filter(({ elsewhere }) => elsewhere !== null);
  if (away.length === 0) return null;
  const asked = away.every(({ elsewhere }) => elsewhere === 'asked');
  const move = (gone: boolean) => {
    if (busy) return;
    setBusy(true);
    void schedules.move(gone).finally(() => {
      setBusy(false);
      setAsking(false);
    });
  };
  return (
    <div className="elsewhere" role="note" aria-label="Due at another relay">
      <p>
        <strong>
          {away.length === all.length
            ? 'All of this belongs'
            : `${plural(away.length, 'entry', 'entries')} below belong`}{' '}
          to another relay of yours
        </strong>
        . What is due runs at one relay only, so it does not run here.{' '}
        {asked
          ? 'It is asked for: open Roost at the other relay once, and then here again.'
          : 'Bring it here, and it runs here as soon as the other relay has let go of it.'}
      </p>
      <div className="routine-ways">
        {!asked && (
          <button type="button" className="solid" disabled={busy} onClick={() => move(false)}>
            Bring it here
          </button>
        )}
        <button type="button" className="ghost" disabled={busy} onClick={() => setAsking(true)}>
          That relay is gone…
        </button>
      </div>
      {asking && (
        <Dialog title="Does the other relay run no more?" onClose={() => setAsking(false)}>
          <p>
            Say yes where its machine, or its folder, is gone for good. What is due runs here then, at once. If it did
            run on, it would run there too, until Roost is opened there.
          </p>
          <div className="dialog-ways">
            <button type="button" className="ghost" onClick={() => setAsking(false)}>
              Not now
            </button>
            <button type="button" className="solid" disabled={busy} onClick={() => move(true)}>
              Yes, it is gone
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
