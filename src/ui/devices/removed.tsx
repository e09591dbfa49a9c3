import { Link } from 'wouter';
import type { SyncStatus } from '../../protocol/sync/page.ts';
import { PATHS } from '../places.ts';
import type { DeviceDialogName } from './later.tsx';
import { UnderWay } from './under-way.tsx';

interface Props {
  readonly status: Extract<SyncStatus, { kind: 'removed' }>;
  readonly onOpen: (dialog: DeviceDialogName) => void;
}

/** This device was taken out of the household: what is left to do here. */
export function Removed({ status, onOpen }: Props) {
  return (
    <>
      <p className="devices-lead">
        <strong>This device was removed from your devices.</strong> What is here stays here, to read and to export.
        Nothing new comes, and what is written here now reaches no other device.
      </p>
      <UnderWay joining={status.joining} onGoOn={() => onOpen('join')} />
      <div className="devices-ways">
        <button type="button" className="solid" onClick={() => onOpen('join')}>
          Join again
        </button>
        <button type="button" className="ghost" onClick={() => onOpen('restore')}>
          I have a recovery phrase
        </button>
        <Link href={PATHS.settings('copies')} className="ghost">
          Export what is here
        </Link>
      </div>
    </>
  );
}
