import { lazy, Suspense, useState } from 'react';
import { t } from '../../language/t.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useInfo } from '../context.tsx';
import { DeviceDialog, type DeviceDialogName } from '../devices/later.tsx';

const BringBack = lazy(() => import('../copies/bring-back.tsx'));

type Way = 'copy' | DeviceDialogName;

const WAYS: readonly { readonly way: Way; readonly label: string }[] = [
  { way: 'join', label: t`I have Roost on another device` },
  { way: 'restore', label: t`I have a recovery phrase` },
  { way: 'copy', label: t`Bring it back from a copy` },
];

/** Ways here for a team that is not new. */
export function ComeBack({ lead = t`Your team lives on another device, or lived here before?` }: { lead?: string }) {
  const blocked = useInfo(writingStopped);
  const [way, setWay] = useState<Way | null>(null);
  const close = () => setWay(null);
  return (
    <div className="welcome-back">
      <p id="come-back">{lead}</p>
      <ul aria-labelledby="come-back">
        {WAYS.map(({ way: one, label }) => (
          <li key={one}>
            <button type="button" className="link-button" disabled={blocked} onClick={() => setWay(one)}>
              {label}
            </button>
          </li>
        ))}
      </ul>
      {way === 'copy' && (
        <Suspense fallback={null}>
          <BringBack onClose={close} />
        </Suspense>
      )}
      <DeviceDialog open={way === 'copy' ? null : way} onClose={close} onJoined={close} />
    </div>
  );
}
