import { t } from '../../language/t.ts';
import type { Joining } from '../../protocol/sync/page.ts';

/** Joining was begun, and its dialog is closed: in another tab, or before a reload. */
export function UnderWay({ joining, onGoOn }: { joining: Joining | null; onGoOn: () => void }) {
  if (joining === null || joining.step === 'failed') return null;
  return (
    <div className="devices-note" role="status">
      <p>{t`This browser is on its way to join another device.`}</p>
      <button type="button" className="ghost" onClick={onGoOn}>{t`Go on`}</button>
    </div>
  );
}
