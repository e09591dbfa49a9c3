import { useEffect, useRef, useState } from 'react';
import { t } from '../../language/t.ts';
import type { SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useDevices, useRoost } from '../context.tsx';
import { Progress } from '../parts/progress.tsx';
import { plural } from '../text/sizes.ts';
import { ComeBack } from './come-back.tsx';
import { WAITS } from './on-its-way.tsx';
import '../devices/devices.css';
import './welcome.css';

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
      <Progress
        label={
          progress?.from === 'relay'
            ? t`Fetching it from the relay…`
            : t`Reading what is kept beside it on this device…`
        }
        done={progress?.done ?? 0}
        of={progress?.of ?? 0}
      />
      {progress === null && WAITS[link] !== null && (
        <p className="welcome-lead" role="status">
          {WAITS[link]}
        </p>
      )}
    </>
  );
}

/** Asked twice: nothing of the lost team is kept after it. */
function BeginAnew() {
  const actions = deviceActionsOf(useRoost());
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const begin = async () => {
    const begun = await actions.beginAnew();
    setFailed(begun.ok ? null : begun.reason);
  };
  if (!asking)
    return (
      <button
        type="button"
        className="link-button"
        onClick={() => setAsking(true)}
      >{t`Begin anew without them`}</button>
    );
  return (
    <div className="devices-warning" role="alertdialog" aria-label={t`Begin anew?`}>
      <p>
        {t`${<strong>{t`Begin anew?`}</strong>} This browser then forgets the key of the team that lived here. Only another device, a recovery phrase or a copy can bring them back after that.`}
      </p>
      {failed !== null && <p className="welcome-failed">{failed}</p>}
      <div className="devices-ways">
        <button type="button" className="ghost" onClick={() => setAsking(false)}>{t`No, go on looking`}</button>
        <button type="button" className="danger-button" onClick={() => void begin()}>{t`Begin anew`}</button>
      </div>
    </div>
  );
}

/** Somebody lived here, and the browser lost what it stored of them. */
export default function ReturningPage() {
  const status = useDevices((state) => state.status);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  if (status?.kind !== 'returning') return null;
  const { team, missing } = status;
  const who = whoOf(team);
  return (
    <main className="welcome" id="main">
      <div className="welcome-card on-its-way">
        <h1 ref={head} tabIndex={-1}>
          {missing ? t`Your team could not be found` : t`Bringing your team back`}
        </h1>
        <p className="welcome-lead">
          {t`The browser lost what it had stored for this page.`}{' '}
          {missing
            ? t`${who} lived here. They were looked for beside it on this device and at the relay, and nothing of them is there.`
            : t`${who} lived here${team.documents > 0 ? t`, with ${plural(team.documents, 'entry', 'entries')}` : ''}. They are brought back from what is kept a second time; nothing new is begun before that.`}
        </p>
        {!missing && <OnTheWay status={status} />}
        {(missing || status.link === 'lost' || status.link === 'locked-out' || status.link === 'off') && (
          <>
            <ComeBack lead={t`Other ways to bring them back:`} />
            <BeginAnew />
          </>
        )}
      </div>
    </main>
  );
}
