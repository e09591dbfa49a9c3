import { useState } from 'react';
import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import type { KeptElsewhere } from '../../../shared/protocol/sync/page.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useRoost } from '../context.tsx';
import { acknowledgedText, protectionText } from '../text/devices.ts';

/**
 * Where everything is kept a second time, and the relay's part in it, which the person may switch
 * off.
 */
export function SecondHome({ kept }: { kept: KeptElsewhere }) {
  const actions = deviceActionsOf(useRoost());
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const off = kept.link === 'off';
  const set = async (on: boolean) => {
    setAsking(false);
    const done = await actions.keepAtRelay(on);
    setFailed(done.ok ? null : done.reason);
  };
  return (
    <section className="devices-block" aria-label={t`Kept a second time`}>
      <h3>
        <i className="device-dot" data-state={off && !kept.files ? 'warn' : 'good'} aria-hidden="true" />{' '}
        {t`Kept a second time`}
      </h3>
      <p>{protectionText(kept)}</p>
      <p>{acknowledgedText(kept)}</p>
      {kept.trouble !== null && (
        <p className="wrong-note" role="alert">
          {retold(kept.trouble)}
        </p>
      )}
      {failed !== null && (
        <p className="wrong-note" role="alert">
          {t`This could not be saved: ${failed}`}
        </p>
      )}
      {asking ? (
        <div className="devices-warning" role="alertdialog" aria-label={t`Hand nothing to the relay?`}>
          <p>
            <strong>{t`Hand nothing to the relay?`}</strong>{' '}
            {kept.files
              ? t`Then only files on this device, and copies that you export, protect your team, and other devices hear nothing from this one through the relay. What the relay has already stays there, sealed.`
              : t`Then only copies that you export protect your team, and other devices hear nothing from this one through the relay. What the relay has already stays there, sealed.`}
          </p>
          <div className="devices-ways">
            <button type="button" className="ghost" onClick={() => setAsking(false)}>{t`Leave it on`}</button>
            <button
              type="button"
              className="danger-button"
              onClick={() => void set(false)}
            >{t`Hand over nothing more`}</button>
          </div>
        </div>
      ) : (
        <div className="devices-ways">
          <button type="button" className="ghost" onClick={() => (off ? void set(true) : setAsking(true))}>
            {off ? t`Hand sealed entries to the relay` : t`Hand nothing to the relay…`}
          </button>
        </div>
      )}
    </section>
  );
}
