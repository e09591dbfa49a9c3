/** The device dialogs, loaded on first use: the QR code libraries are large. */
import { lazy, Suspense } from 'react';
import { DEVICE_CODES } from '../../../shared/protocol/device-code-settings.ts';

/**
 * Whether this tab was opened by another device's code. True only once, so that a reload does not
 * start joining again.
 */
export function takeCameByCode(): boolean {
  try {
    const came = sessionStorage.getItem(DEVICE_CODES.remembered) !== null;
    if (came) sessionStorage.removeItem(DEVICE_CODES.remembered);
    return came;
  } catch {
    // Browser storage is unavailable.
    return false;
  }
}

const loadAdd = () => import('./add-device.tsx');
const loadJoin = () => import('./join-dialog.tsx');
const loadPhrase = () => import('./phrase-dialog.tsx');
const loadCheck = () => import('./check-dialog.tsx');
const loadRestore = () => import('./restore-dialog.tsx');

/** Preloads everything, so that it works without the relay. */
export const fetchDeviceDialogs = (): Promise<unknown> =>
  Promise.all([loadAdd(), loadJoin(), loadPhrase(), loadCheck(), loadRestore()]);

const AddDevice = lazy(loadAdd);
const JoinDialog = lazy(loadJoin);
const PhraseDialog = lazy(loadPhrase);
const CheckDialog = lazy(loadCheck);
const RestoreDialog = lazy(loadRestore);

export type DeviceDialogName = 'add' | 'join' | 'phrase' | 'check' | 'restore';

interface Props {
  readonly open: DeviceDialogName | null;
  readonly onClose: () => void;
  /** This device has joined a household. */
  readonly onJoined: () => void;
  /** Another device’s code was opened here. */
  readonly byCode?: boolean;
}

/** The open dialog, or none. */
export function DeviceDialog({ open, onClose, onJoined, byCode = false }: Props) {
  return (
    <Suspense fallback={null}>
      {open === 'add' && <AddDevice onClose={onClose} />}
      {open === 'join' && <JoinDialog onClose={onClose} onJoined={onJoined} byCode={byCode} />}
      {open === 'phrase' && <PhraseDialog onClose={onClose} />}
      {open === 'check' && <CheckDialog onClose={onClose} />}
      {open === 'restore' && <RestoreDialog onClose={onClose} onJoined={onJoined} />}
    </Suspense>
  );
}
