import { useState, type FormEvent } from 'react';
import { t } from '../../language/t.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useRoost } from '../context.tsx';
import { guessDeviceName } from '../../../shared/domain/device-name.ts';
import { NameField } from './name-field.tsx';
import { Wrong } from './wrong.tsx';

/**
 * What other devices and a phrase rest on, and what this device is called. What comes after stands
 * there by itself once it is shared.
 */
export function ShareFirst({ onClose }: { onClose: () => void }) {
  const actions = deviceActionsOf(useRoost());
  const [name, setName] = useState(() => guessDeviceName(navigator.userAgent));
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const share = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || name.trim() === '') return;
    setBusy(true);
    setFailed(null);
    const shared = await actions.share(name.trim());
    setBusy(false);
    if (!shared.ok) setFailed(shared.reason);
  };
  return (
    <form className="devices-block" onSubmit={(event) => void share(event)} noValidate>
      <p>{t`Your devices tell each other apart by name. Everything that is kept here is sealed with a key of your own and handed to the relay, for your other devices to fetch. The key stays on your devices: the relay keeps what it cannot read.`}</p>
      <NameField value={name} onChange={setName} />
      {failed !== null && <Wrong title={t`This could not be saved.`} reason={t`${failed} Nothing has changed.`} />}
      <div className="devices-ways">
        <button type="submit" className="solid" disabled={busy || name.trim() === ''}>
          {busy ? t`Saving…` : t`Go on`}
        </button>
        <button type="button" className="ghost" onClick={onClose}>{t`Not now`}</button>
      </div>
    </form>
  );
}
