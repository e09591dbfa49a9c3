/** The first screen of a browser that lost the storage of its team. */
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { t } from '../../language/t.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useDevices, useInfo, useRoost } from '../context.tsx';
import { DeviceDialog, type DeviceDialogName } from '../devices/later.tsx';
import { SureDialog } from '../design/dialog.tsx';
import { Progress } from '../design/progress.tsx';
import { plural } from '../text/sizes.ts';
import { WAITS } from './on-its-way.tsx';
import '../devices/devices.css';
import './welcome.css';

const BringBack = lazy(() => import('../exports/bring-back.tsx'));

type Way = 'copy' | DeviceDialogName;

const WAYS: readonly { readonly way: Way; readonly label: string }[] = [
  { way: 'join', label: t`I have Roost on another device` },
  { way: 'restore', label: t`I have a recovery phrase` },
  { way: 'copy', label: t`I have an export` },
];

/** Ways to bring an existing team here. */
export function ComeBack({ lead = t`Do you have a team already?` }: { lead?: string }) {
  const blocked = useInfo(writingStopped);
  const [way, setWay] = useState<Way | null>(null);
  const close = () => setWay(null);
  return (
    <div className="welcome-back above-6 text-2 stack gap-3 ink-2">
      <p id="come-back">{lead}</p>
      <ul className="flex wrap gap-4" aria-labelledby="come-back">
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

type Status = Extract<SyncStatus, { kind: 'returning' }>;

/** `Julian and 8 agents` */
function whoOf({ lead, agents }: Status['team']): string {
  if (lead === null) return agents === 0 ? t`A team` : plural(agents, 'agent');
  return agents === 0 ? lead : t`${lead} and ${plural(agents, 'agent')}`;
}

function OnTheWay({ status }: { status: Status }) {
  const { progress, link } = status;
  return (
    <>
      <Progress label={t`Loading…`} done={progress?.done ?? 0} of={progress?.of ?? 0} />
      {progress === null && WAITS[link] !== null && (
        <p className="welcome-lead above-5 pretty ink-2" role="status">
          {WAITS[link]}
        </p>
      )}
    </>
  );
}

/** Confirmed, since nothing of the lost team remains here afterwards. */
function BeginAnew() {
  const actions = deviceActionsOf(useRoost());
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className="link-button" onClick={() => setAsking(true)}>{t`Start without them`}</button>
      {asking && (
        <SureDialog
          title={t`Start without them`}
          does={t`Start without them`}
          stays={t`Cancel`}
          onSure={async () => {
            const begun = await actions.beginAnew();
            return begun.ok ? null : begun.reason;
          }}
          onClose={() => setAsking(false)}
        >
          <p>{t`This browser then forgets the team’s key. Only another device, a recovery phrase or an export can bring the team back.`}</p>
        </SureDialog>
      )}
    </>
  );
}

/** A team lived here, and the browser lost its storage. */
export default function ReturningPage() {
  const status = useDevices((state) => state.status);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  if (status?.kind !== 'returning') return null;
  const { team, missing } = status;
  const who = whoOf(team);
  return (
    <main className="welcome shrinks both-centred scroll stack" id="main">
      <div className="welcome-card on-its-way gap-6 stack">
        <h1 ref={head} tabIndex={-1}>
          {missing ? t`Your team could not be found` : t`Bringing your team back`}
        </h1>
        <p className="welcome-lead above-5 pretty ink-2">
          {t`The browser lost its storage.`}{' '}
          {missing
            ? t`${who} lived here. No copy is on this device or on the relay.`
            : t`${who} lived here${team.documents > 0 ? t`, with ${plural(team.documents, 'entry', 'entries')}` : ''}. Roost restores the second copy first.`}
        </p>
        {!missing && <OnTheWay status={status} />}
        {(missing || status.link === 'lost' || status.link === 'locked-out' || status.link === 'off') && (
          <>
            <ComeBack lead={t`Other ways:`} />
            <BeginAnew />
          </>
        )}
      </div>
    </main>
  );
}
