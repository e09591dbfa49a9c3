import { useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import type { SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { Progress } from '../parts/progress.tsx';
import { acknowledgedText } from '../text/devices.ts';
import { count, names, plural } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import { DeviceList } from './device-list.tsx';
import { SecondHome } from './second-home.tsx';
import { CopyableText } from './copy-text.tsx';
import { PasteText } from './paste-text.tsx';
import { Wrong } from './wrong.tsx';
import type { DeviceDialogName } from './later.tsx';

const BEGINS = 'ROOST-DIRECT1.…';

/**
 * A direct connection between two devices by texts that the person carries: for when no relay
 * introduces them.
 */
function WithoutRelay() {
  const actions = deviceActionsOf(useRoost());
  const [made, setMade] = useState<string | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [answer, setAnswer] = useState<string | null>(null);
  const [opening, setOpening] = useState(false);
  const make = async () => {
    const offer = await actions.makeDirectOffer();
    setOpening(false);
    setAnswer(null);
    setMade(offer.ok ? offer.value : null);
    setFailed(offer.ok ? null : offer.reason);
  };
  const take = async (text: string) => {
    const taken = await actions.takeDirectText(text);
    if (!taken.ok) return taken.reason;
    setAnswer(taken.value);
    setOpening(taken.value === null);
    return null;
  };
  return (
    <details className="without-relay">
      <summary>{t`Without a relay`}</summary>
      <p>{t`Two of your devices in one network can exchange what they have directly, with both pages open. Usually the relay introduces them and there is nothing to do; where it is gone, you carry two texts between them: by mail, by chat, as you like. They are sealed, and good once.`}</p>
      <ol className="without-steps">
        <li>
          <h4>{t`On the first device: make a text`}</h4>
          {made === null && answer !== null && <p className="setting-hint">{t`Done: its text was pasted here.`}</p>}
          {made === null && answer === null && (
            <button type="button" className="ghost" onClick={() => void make()}>{t`Make the text`}</button>
          )}
          {made !== null && (
            <>
              <CopyableText text={made} what={t`The text for the other device`} />
              <button type="button" className="link-button" onClick={() => void make()}>{t`Make another`}</button>
            </>
          )}
          {failed !== null && <Wrong title={t`The text could not be made.`} reason={failed} />}
        </li>
        <li>
          <h4>{t`On the second device: paste it, and carry the answer back`}</h4>
          {made === null && answer === null && (
            <PasteText
              label={t`The text of the first device`}
              placeholder={BEGINS}
              button={t`Answer it`}
              onText={take}
            />
          )}
          {answer !== null && <CopyableText text={answer} what={t`The answer for the first device`} />}
          {made !== null && answer === null && (
            <p className="setting-hint">{t`Settings, Devices, Without a relay, on that device.`}</p>
          )}
        </li>
        <li>
          <h4>{t`On the first device again: paste the answer`}</h4>
          {made !== null && !opening && (
            <PasteText
              label={t`The answer of the second device`}
              placeholder={BEGINS}
              button={t`Open the connection`}
              onText={take}
            />
          )}
          {made === null && (
            <p className="setting-hint">{t`The connection opens then, and “direct connection” stands beside the other device above.`}</p>
          )}
          {opening && (
            <p
              className="without-done"
              role="status"
            >{t`The connection is open: “direct connection” stands beside the other device above.`}</p>
          )}
        </li>
      </ol>
    </details>
  );
}

type SharedStatus = Extract<SyncStatus, { kind: 'shared' }>;

/** Who is still on the way here, by name where the name is here already. */
function Arriving({ agentIds }: { agentIds: readonly AgentId[] }) {
  const roster = useHousehold((state) => state.roster);
  const known = agentIds.flatMap((agentId) => roster.byId.get(agentId)?.name ?? []);
  if (agentIds.length === 0) return null;
  const who = known.length === agentIds.length ? names(known) : plural(agentIds.length, 'agent');
  return (
    <p>
      {agentIds.length === 1
        ? t`${who} is on the way here: what was said last is not all on this device yet, so it is not woken here before.`
        : t`${who} are on the way here: what was said last is not all on this device yet, so they are not woken here before.`}
    </p>
  );
}

/** What waits because its date cannot be right. */
function Ahead({ ahead: { entries, latest, taken } }: { ahead: NonNullable<SharedStatus['ahead']> }) {
  const actions = deviceActionsOf(useRoost());
  const [failed, setFailed] = useState<string | null>(null);
  const one = entries === 1;
  return (
    <div className="devices-warning" role="status">
      <p>
        <strong>
          {plural(entries, 'entry of another device waits outside.', 'entries of another device wait outside.')}
        </strong>{' '}
        {t`Dated ahead of this device’s clock, up to ${fullTime(latest)}: the clock of that device was wrong, or this one is. Set the clocks right first. ${one ? t`It comes in when that time has come` : t`They come in when that time has come`}${
          taken
            ? t`, or when you take them; what you write then stands after them.`
            : t`; no clock goes that wrong, so look at who is among your devices.`
        }`}
      </p>
      <button
        type="button"
        className="ghost"
        onClick={() => void actions.takeAhead().then((done) => setFailed(done.ok ? null : done.reason))}
      >
        {one ? t`Take it in` : t`Take them in`}
      </button>
      {failed !== null && <p className="wrong-note">{failed}</p>}
    </div>
  );
}

/** How far both ways are: to the relay, and from there to here. */
function HowFar({ status }: { status: SharedStatus }) {
  const { backlog, attachments, newer, ahead, refused, trouble } = status;
  return (
    <section className="devices-block" aria-label={t`On the way`}>
      <h3>{t`On the way`}</h3>
      {trouble !== null && (
        <p className="wrong-note" role="alert">
          {retold(trouble)}
        </p>
      )}
      <p className="devices-handed" data-link={status.link}>
        <i className="device-dot" aria-hidden="true" />
        {acknowledgedText(status)}
      </p>
      {backlog !== null && (
        <Progress
          label={t`Fetching what is elsewhere`}
          done={backlog.done}
          of={backlog.of}
          text={t`${count(Math.min(backlog.done, backlog.of))} of ${plural(backlog.of, 'entry', 'entries')}`}
        />
      )}
      <Arriving agentIds={status.arriving} />
      {attachments > 0 && (
        <p>{t`Pictures and files from messages are still on their way here. They come after the words.`}</p>
      )}
      {ahead !== null && <Ahead ahead={ahead} />}
      {newer > 0 && (
        <p>
          {t`${plural(newer, 'entry was', 'entries were')} written by a newer Roost on another device. They are kept, and are read here once this Roost is updated too.`}
        </p>
      )}
      {refused > 0 && (
        <p className="devices-warning">
          <span>
            {t`${<strong>{t`${plural(refused, 'entry was', 'entries were')} refused`}</strong>} since this page was opened: changed, moved or forged on the way. Nothing of that was taken. Your other devices send good ones.`}
          </span>
        </p>
      )}
    </section>
  );
}

/** The way back when every device is lost. */
function Phrase({ made, onOpen }: { made: boolean; onOpen: (dialog: DeviceDialogName) => void }) {
  return (
    <section className="devices-block" aria-label={t`Recovery phrase`}>
      <h3>
        <i className="device-dot" data-state={made ? 'good' : 'warn'} aria-hidden="true" /> {t`Recovery phrase`}
      </h3>
      <p>
        {made
          ? t`You have one. With its 24 words your team comes back on a new device, even when all of these are lost.`
          : t`There is none yet. If all of these devices were lost, nobody could open what the relay keeps. Twenty-four words on paper can.`}
      </p>
      <div className="devices-ways">
        {made && <button type="button" className="ghost" onClick={() => onOpen('check')}>{t`Check my phrase`}</button>}
        <button type="button" className={made ? 'ghost' : 'solid'} onClick={() => onOpen('phrase')}>
          {made ? t`Make a new one` : t`Make a recovery phrase`}
        </button>
      </div>
    </section>
  );
}

interface Props {
  readonly status: SharedStatus;
  readonly onOpen: (dialog: DeviceDialogName) => void;
}

/** The household's devices, and how far everything is between them. */
export function Shared({ status, onOpen }: Props) {
  return (
    <>
      <section className="devices-block" aria-label={t`Your devices`}>
        <h3>{t`Your devices`}</h3>
        <DeviceList devices={status.devices} />
        <div className="devices-ways">
          <button type="button" className="solid" onClick={() => onOpen('add')}>{t`Add a device`}</button>
        </div>
      </section>
      <HowFar status={status} />
      <Phrase made={status.phrase} onOpen={onOpen} />
      <SecondHome kept={status} />
      <WithoutRelay />
    </>
  );
}
