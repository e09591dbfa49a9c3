import { useCallback, useState } from 'react';
import { t } from '../../language/t.ts';
import { useDevices, useRoost } from '../context.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { DeviceDialog, type DeviceDialogName } from './later.tsx';
import { Link } from 'wouter';
import type { Joining, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { Shared } from './shared.tsx';
import { Wrong } from './wrong.tsx';
import './devices.css';
import { SecondHome } from './second-home.tsx';

interface AloneProps {
  readonly status: Extract<SyncStatus, { kind: 'alone' }>;
  readonly onOpen: (dialog: DeviceDialogName) => void;
}

/** Joining was begun, and its dialog is closed: in another tab, or before a reload. */
function UnderWay({ joining, onGoOn }: { joining: Joining | null; onGoOn: () => void }) {
  if (joining === null || joining.step === 'failed') return null;
  return (
    <div className="devices-note" role="status">
      <p>{t`This browser is on its way to join another device.`}</p>
      <button type="button" className="ghost" onClick={onGoOn}>{t`Go on`}</button>
    </div>
  );
}

/** No other device yet: what that means, and the ways out of it. */
function Alone({ status, onOpen }: AloneProps) {
  return (
    <>
      <p className="devices-lead">
        {t`${<strong>{t`Who lives here lives on this device alone.`}</strong>} If it is lost, or this browser’s data is cleared, only a second device, a recovery phrase or an exported copy brings them back: the relay keeps everything sealed, and cannot open it.`}
      </p>
      <UnderWay joining={status.joining} onGoOn={() => onOpen('join')} />
      <div className="devices-choices">
        <section aria-label={t`A second device`}>
          <h3>{t`A second device`}</h3>
          <p>{t`Your phone or another computer gets the same team, and what is said on one is known on all of them.`}</p>
          <button type="button" className="solid" onClick={() => onOpen('add')}>{t`Add a device`}</button>
        </section>
        <section aria-label={t`A recovery phrase`}>
          <h3>{t`A recovery phrase`}</h3>
          <p>{t`Twenty-four words on paper that bring everyone back when every device is lost.`}</p>
          <button type="button" className="solid" onClick={() => onOpen('phrase')}>{t`Make a recovery phrase`}</button>
        </section>
      </div>
      {status.kept && <SecondHome kept={status.kept} />}
      <section className="devices-block" aria-label={t`Your team lives elsewhere?`}>
        <h3>{t`Your team lives elsewhere?`}</h3>
        <p>{t`Then this browser can become one of its devices.`}</p>
        <div className="devices-ways">
          <button type="button" className="ghost" onClick={() => onOpen('join')}>{t`Join from another device`}</button>
          <button
            type="button"
            className="ghost"
            onClick={() => onOpen('restore')}
          >{t`I have a recovery phrase`}</button>
        </div>
      </section>
    </>
  );
}

interface RemovedProps {
  readonly status: Extract<SyncStatus, { kind: 'removed' }>;
  readonly onOpen: (dialog: DeviceDialogName) => void;
}

/** This device was taken out of the household: what is left to do here. */
function Removed({ status, onOpen }: RemovedProps) {
  return (
    <>
      <p className="devices-lead">
        {t`${<strong>{t`This device was removed from your devices.`}</strong>} What is here stays here, to read and to export. Nothing new comes, and what is written here now reaches no other device.`}
      </p>
      <UnderWay joining={status.joining} onGoOn={() => onOpen('join')} />
      <div className="devices-ways">
        <button type="button" className="solid" onClick={() => onOpen('join')}>{t`Join again`}</button>
        <button type="button" className="ghost" onClick={() => onOpen('restore')}>{t`I have a recovery phrase`}</button>
        <Link href={PATHS.settings('copies')} className="ghost">{t`Export what is here`}</Link>
      </div>
    </>
  );
}

/** The same team on every device: what is shared, with whom, and how far it is. */
export function DevicesSection() {
  const { devices, notices } = useRoost();
  const { go } = useRoute();
  const status = useDevices((state) => state.status);
  const failed = useDevices((state) => state.failed);
  // Held here: what a dialog does changes what stands below it.
  const [open, setOpen] = useState<DeviceDialogName | null>(null);
  const onJoined = useCallback(() => {
    notices.info(t`This device is one of yours now. Who lives there is on the way here.`);
    go(PATHS.hearth);
  }, [notices, go]);
  return (
    <div className="devices">
      {failed !== null && (
        <Wrong title={t`It is not known how it stands with your devices.`} reason={failed}>
          <button type="button" className="ghost" onClick={() => void devices.refresh()}>{t`Ask again`}</button>
        </Wrong>
      )}
      {status === null && failed === null && <p className="query-loading" role="status">{t`Looking…`}</p>}
      {status?.kind === 'alone' && <Alone status={status} onOpen={setOpen} />}
      {status?.kind === 'shared' && <Shared status={status} onOpen={setOpen} />}
      {status?.kind === 'returning' && (
        <p role="status">{t`Your team is being brought back here. When that is done, your devices stand here.`}</p>
      )}
      {status?.kind === 'removed' && <Removed status={status} onOpen={setOpen} />}
      <DeviceDialog open={open} onClose={() => setOpen(null)} onJoined={onJoined} />
    </div>
  );
}
