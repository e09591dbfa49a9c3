import { useEffect, useState, type FormEvent } from 'react';
import { t } from '../../language/t.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useDevices, useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Progress } from '../design/progress.tsx';
import { guessDeviceName } from '../../../shared/domain/device-name.ts';
import { NameField, PhraseField, TwoTeams } from './dialog-parts.tsx';
import './devices.css';
import './phrase.css';
import { useAction } from '../design/use-action.ts';

/** Restores a household by its recovery phrase. `onJoined`: this device has joined it. */
export default function RestoreDialog({ onClose, onJoined }: { onClose: () => void; onJoined: () => void }) {
  const actions = deviceActionsOf(useRoost());
  const joined = useDevices(({ status }) => status?.kind === 'shared');
  const [phrase, setPhrase] = useState('');
  const [name, setName] = useState(() => guessDeviceName(navigator.userAgent));
  const { busy, failed, act, fail } = useAction();
  useEffect(() => {
    if (joined) onJoined();
  }, [joined, onJoined]);
  const restore = (event: FormEvent) => {
    event.preventDefault();
    if (phrase.trim() === '' || name.trim() === '') return;
    act(async () => {
      const restored = await actions.restore(phrase, name.trim());
      return restored.ok ? null : restored.reason;
    });
  };
  return (
    <Dialog title={t`Restore your team`} onClose={onClose}>
      <form className="devices stack gap-7 narrow ink-2 text-3" onSubmit={restore} noValidate>
        <p>{t`Your recovery phrase opens the relay’s sealed copy. Devices that you still have keep working.`}</p>
        <TwoTeams />
        <PhraseField
          value={phrase}
          onChange={(next) => {
            setPhrase(next);
            fail(null);
          }}
          wrong={failed}
        />
        <NameField value={name} onChange={setName} />
        {busy && <Progress label={t`Working…`} done={0} of={0} />}
        <div className="devices-ways gap-4 cluster">
          <button type="submit" className="solid" disabled={busy || phrase.trim() === '' || name.trim() === ''}>
            {busy ? t`Loading…` : t`Restore`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
