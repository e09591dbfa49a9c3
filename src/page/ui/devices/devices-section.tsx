/** Settings section: the household's devices and the state of sync between them. */
import { type FormEvent, useCallback, useState } from 'react';
import { Link } from 'wouter';
import type { DeviceView, Joining, StoredElsewhere, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { retold, t } from '../../language/t.ts';
import { deviceActionsOf } from '../../state/actions/devices.ts';
import { useDevices, useHousehold, useRoost } from '../context.tsx';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { EditIcon } from '../design/more-icons.tsx';
import { acknowledgedText, cameText, protectionText, reachText } from '../text/devices.ts';
import { count, names, plural } from '../text/sizes.ts';
import { useNow } from '../hooks.ts';
import { Progress } from '../design/progress.tsx';
import { fullTime } from '../text/time.ts';
import { PATHS, useRoute } from '../routes.ts';
import { CopyableText } from '../parts/copyable-text.tsx';
import { NameField, PasteText, Wrong } from './dialog-parts.tsx';
import { DeviceDialog, type DeviceDialogName } from './later.tsx';
import './devices.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/**
 * The devices that are removed along with it: those it let in, and those without a known inviter.
 */
function Along({
  devices,
  keep,
  onKeep,
}: {
  devices: readonly DeviceView[];
  keep: ReadonlySet<string>;
  onKeep: (keep: ReadonlySet<string>) => void;
}) {
  const now = useNow();
  return (
    <fieldset>
      <legend>{t`Also removed`}</legend>
      <p className="setting-hint">{t`This device let them in, or nobody knows who did. Tick those that you know.`}</p>
      <ul className="stack gap-1 short scroll">
        {devices.map((device) => (
          <li key={device.deviceId}>
            <label className="tick-line">
              <input
                type="checkbox"
                checked={keep.has(device.deviceId)}
                onChange={({ target }) =>
                  onKeep(
                    new Set(
                      target.checked ? [...keep, device.deviceId] : [...keep].filter((id) => id !== device.deviceId),
                    ),
                  )
                }
              />
              <span dir="auto">{`${device.name}: ${cameText(device, now)}`}</span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

function RemoveDialog({
  device,
  along,
  onClose,
}: {
  device: DeviceView;
  along: readonly DeviceView[];
  onClose: () => void;
}) {
  const state = useRoost();
  const [keep, setKeep] = useState<ReadonlySet<string>>(new Set());
  const remove = async () => {
    const removed = await deviceActionsOf(state).remove(device.deviceId, [...keep]);
    if (!removed.ok) return removed.reason;
    const others = along.filter(({ deviceId }) => removed.value.includes(deviceId));
    state.notices.info(t`${names([device, ...others].map(({ name }) => name))} removed.`);
    return null;
  };
  return (
    <SureDialog title={t`Remove ${device.name}`} does={t`Remove`} onSure={remove} onClose={onClose}>
      <ul className="bulleted stack gap-4">
        <li>{t`The relay disconnects it and signs it out now.`}</li>
        <li>{t`It cannot read anything written from now on: your household gets a new key.`}</li>
        <li>
          {t`${<b>{t`What it has already stays there.`}</b>} If it was stolen or sold, clear the browser’s data on it while you can.`}
        </li>
      </ul>
      {along.length > 0 && <Along devices={along} keep={keep} onKeep={setKeep} />}
    </SureDialog>
  );
}

function RenameDialog({ device, onClose }: { device: DeviceView; onClose: () => void }) {
  const actions = deviceActionsOf(useRoost());
  const [name, setName] = useState(device.name);
  const { busy, failed, act } = useAction();
  const rename = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return;
    act(async () => {
      const renamed = await actions.rename(name.trim());
      if (renamed.ok) onClose();
      return renamed;
    });
  };
  return (
    <Dialog title={t`Rename this device`} onClose={onClose}>
      <form className="devices stack gap-7 narrow ink-2 text-3" onSubmit={rename} noValidate>
        <NameField value={name} onChange={setName} />
        <WrongNote text={failed} />
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="submit" className="solid" disabled={busy || name.trim() === ''}>{t`Save`}</button>
        </div>
      </form>
    </Dialog>
  );
}

function Row({
  device,
  now,
  onRemove,
  onRename,
}: {
  device: DeviceView;
  now: number;
  onRemove: () => void;
  onRename: () => void;
}) {
  const { name, self, online } = device;
  return (
    <li className="box line gap-4 pad">
      <i className={`dot ${online || self ? 'dot-live' : ''}`} aria-hidden="true" />
      <div className="device-who fill break">
        <b className="ink break" dir="auto">
          {name}
        </b>
        {self && <span className="tag">{t`this device`}</span>}
        <small className="figures text-2 block" dir="auto">
          {reachText(device, now)}
        </small>
      </div>
      {self ? (
        <button type="button" className="icon-button" aria-label={t`Rename this device`} onClick={onRename}>
          <EditIcon />
        </button>
      ) : (
        <button
          type="button"
          className="ghost ghost-danger"
          aria-label={t`Remove ${name}`}
          onClick={onRemove}
        >{t`Remove`}</button>
      )}
    </li>
  );
}

/** This device first, then active ones, then the rest by when they were last seen. */
const inOrder = (devices: readonly DeviceView[]) =>
  [...devices].sort(
    (a, b) =>
      Number(b.self) - Number(a.self) ||
      Number(b.online) - Number(a.online) ||
      (b.lastSeen ?? 0) - (a.lastSeen ?? 0) ||
      a.name.localeCompare(b.name),
  );

function DeviceList({ devices }: { devices: readonly DeviceView[] }) {
  const now = useNow();
  const [removing, setRemoving] = useState<DeviceView | null>(null);
  const [renaming, setRenaming] = useState<DeviceView | null>(null);
  return (
    <>
      <ul className="stack gap-4">
        {inOrder(devices).map((device) => (
          <Row
            key={device.deviceId}
            device={device}
            now={now}
            onRemove={() => setRemoving(device)}
            onRename={() => setRenaming(device)}
          />
        ))}
      </ul>
      {removing && (
        <RemoveDialog
          device={removing}
          along={devices.filter(({ deviceId }) => removing.along.includes(deviceId))}
          onClose={() => setRemoving(null)}
        />
      )}
      {renaming && <RenameDialog device={renaming} onClose={() => setRenaming(null)} />}
    </>
  );
}

/** The second copies of all data, and the relay's part in them, which the person can switch off. */
function SecondHome({ kept }: { kept: StoredElsewhere }) {
  const actions = deviceActionsOf(useRoost());
  const { busy, failed, act } = useAction();
  const off = kept.link === 'off';
  return (
    <section className="devices-block stack gap-5 narrow" aria-label={t`Second copy`}>
      <h3 className="line ink gap-4">
        <i className={`dot ${off && !kept.files ? 'dot-asks' : 'dot-live'}`} aria-hidden="true" /> {t`Second copy`}
      </h3>
      <p className="break pretty">{protectionText(kept)}</p>
      <p className="break pretty">{acknowledgedText(kept)}</p>
      <WrongNote text={kept.trouble && retold(kept.trouble)} />
      <WrongNote text={failed} />
      <div className="devices-ways gap-4 cluster">
        <button type="button" className="ghost" disabled={busy} onClick={() => act(() => actions.keepAtRelay(off))}>
          {off ? t`Send sealed copies to the relay` : t`Send nothing more to the relay`}
        </button>
      </div>
    </section>
  );
}

const BEGINS = 'ROOST-DIRECT1.…';

/** A direct connection between two devices by texts that the person transfers, without a relay. */
function WithoutRelay() {
  const actions = deviceActionsOf(useRoost());
  const [made, setMade] = useState<string | null>(null);
  const { busy, failed, act } = useAction();
  const [answer, setAnswer] = useState<string | null>(null);
  const [opening, setOpening] = useState(false);
  const make = () =>
    act(async () => {
      const offer = await actions.makeDirectOffer();
      setOpening(false);
      setAnswer(null);
      setMade(offer.ok ? offer.value : null);
      return offer;
    });
  const take = async (text: string) => {
    const taken = await actions.takeDirectText(text);
    if (!taken.ok) return taken.reason;
    setAnswer(taken.value);
    setOpening(taken.value === null);
    return null;
  };
  return (
    <details className="without-relay ruled">
      <summary className="text-4 bold ink pad-4-0">{t`Without a relay`}</summary>
      <p className="break pretty">{t`Your devices can connect directly, without a relay: in one network, with Roost open on both. Carry two texts between them, by mail or chat. Each is sealed and works once.`}</p>
      <ol className="without-steps counted above-6 gap-6 stack">
        <li className="stack gap-4 narrow at-start relative">
          <h4 className="medium ink">{t`First device`}</h4>
          {made === null && answer === null && (
            <button type="button" className="ghost" disabled={busy} onClick={make}>{t`Make the text`}</button>
          )}
          {made !== null && (
            <>
              <CopyableText text={made} what={t`Text for the second device`} />
              <button type="button" className="link-button" onClick={() => void make()}>{t`Make a new one`}</button>
            </>
          )}
          <WrongNote text={failed} />
        </li>
        <li className="stack gap-4 narrow at-start relative">
          <h4 className="medium ink">{t`Second device: paste the text, and carry the answer back`}</h4>
          {made === null && answer === null && (
            <PasteText label={t`Text of the first device`} placeholder={BEGINS} button={t`Answer`} onText={take} />
          )}
          {answer !== null && <CopyableText text={answer} what={t`Answer of the second device`} />}
        </li>
        <li className="stack gap-4 narrow at-start relative">
          <h4 className="medium ink">{t`First device again: paste the answer`}</h4>
          {made !== null && !opening && (
            <PasteText
              label={t`Answer of the second device`}
              placeholder={BEGINS}
              button={t`Open the connection`}
              onText={take}
            />
          )}
          {opening && <p className="good" role="status">{t`Connected directly.`}</p>}
        </li>
      </ol>
    </details>
  );
}

type SharedStatus = Extract<SyncStatus, { kind: 'shared' }>;

/** The agents whose documents are still arriving, by name if that is here already. */
function Arriving({ agentIds }: { agentIds: readonly AgentId[] }) {
  const roster = useHousehold((state) => state.roster);
  const known = agentIds.flatMap((agentId) => roster.byId.get(agentId)?.name ?? []);
  if (agentIds.length === 0) return null;
  const who = known.length === agentIds.length ? names(known) : plural(agentIds.length, 'agent');
  return <p>{t`Still arriving: ${who}`}</p>;
}

/** Documents that wait because their date cannot be right. */
function Ahead({ ahead: { entries, latest, taken } }: { ahead: NonNullable<SharedStatus['ahead']> }) {
  const actions = deviceActionsOf(useRoost());
  const [failed, setFailed] = useState<string | null>(null);
  return (
    <div className="warn-box round cluster apart gap-4 pad-wide" role="status">
      <p>
        <strong>{plural(entries, 'entry waits: dated in the future.', 'entries wait: dated in the future.')}</strong>{' '}
        {taken
          ? t`Check the clocks of your devices: one is wrong. The entries are read on ${fullTime(latest)}, or when you take them in.`
          : t`No clock is that wrong. Check your list of devices. The entries are read on ${fullTime(latest)}.`}
      </p>
      <button
        type="button"
        className="ghost"
        onClick={() => void actions.takeAhead().then((done) => setFailed(done.ok ? null : done.reason))}
      >
        {t`Take in`}
      </button>
      {failed !== null && <p className="wrong-note">{failed}</p>}
    </div>
  );
}

/** The mark of a connection. */
function dotOf(link: SharedStatus['link']): string {
  if (link === 'live') return 'dot-live';
  return link === 'lost' || link === 'locked-out' ? 'dot-asks' : '';
}

/** Progress in both directions: to the relay, and from the relay to here. */
function HowFar({ status }: { status: SharedStatus }) {
  const { backlog, attachments, newer, ahead, refused, trouble } = status;
  return (
    <section className="devices-block stack gap-5 narrow" aria-label={t`On the way`}>
      <h3 className="line ink gap-4">{t`On the way`}</h3>
      <WrongNote text={trouble && retold(trouble)} />
      <p className="devices-handed gap-4 flex baseline break pretty">
        <i className={`dot ${dotOf(status.link)}`} aria-hidden="true" />
        {acknowledgedText(status)}
      </p>
      {backlog !== null && (
        <Progress
          label={t`Loading…`}
          done={backlog.done}
          of={backlog.of}
          text={t`${count(Math.min(backlog.done, backlog.of))} of ${plural(backlog.of, 'entry', 'entries')}`}
        />
      )}
      <Arriving agentIds={status.arriving} />
      {attachments > 0 && <p>{t`Pictures and files are still arriving.`}</p>}
      {ahead !== null && <Ahead ahead={ahead} />}
      {newer > 0 && <p>{t`Another device runs a newer Roost. Update this one to read everything.`}</p>}
      {refused > 0 && (
        <p className="warn-box round pad-wide">
          <span>
            {t`${<strong>{t`${plural(refused, 'entry', 'entries')} refused`}</strong>} since this page was opened: altered on the way. None of them is used.`}
          </span>
        </p>
      )}
    </section>
  );
}

/** Recovery when every device is lost. */
function Phrase({ made, onOpen }: { made: boolean; onOpen: (dialog: DeviceDialogName) => void }) {
  return (
    <section className="devices-block stack gap-5 narrow" aria-label={t`Recovery phrase`}>
      <h3 className="line ink gap-4">
        <i className={`dot ${made ? 'dot-live' : 'dot-asks'}`} aria-hidden="true" /> {t`Recovery phrase`}
      </h3>
      <p className="break pretty">
        {made
          ? t`You have one. Keep its 24 words safe.`
          : t`24 words on paper that bring your team back on a new device.`}
      </p>
      <div className="devices-ways gap-4 cluster">
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

/** The household's devices, and the state of sync between them. */
function Shared({ status, onOpen }: Props) {
  return (
    <>
      <section className="devices-block stack gap-5 narrow" aria-label={t`Devices`}>
        <h3 className="line ink gap-4">{t`Devices`}</h3>
        <DeviceList devices={status.devices} />
        <div className="devices-ways gap-4 cluster">
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

interface AloneProps {
  readonly status: Extract<SyncStatus, { kind: 'alone' }>;
  readonly onOpen: (dialog: DeviceDialogName) => void;
}

/** Joining has begun, and its dialog is closed: in another tab, or before a reload. */
function UnderWay({ joining, onGoOn }: { joining: Joining | null; onGoOn: () => void }) {
  if (joining === null || joining.step === 'failed') return null;
  return (
    <div className="box cluster apart gap-4 pad-wide" role="status">
      <p>{t`This browser is joining another device.`}</p>
      <button type="button" className="ghost" onClick={onGoOn}>{t`Continue`}</button>
    </div>
  );
}

/** No other device yet: what that means, and how to add one. */
function Alone({ status, onOpen }: AloneProps) {
  return (
    <>
      <p className="text-4 break pretty">
        {t`${<strong className="ink break">{t`Your team exists only on this device.`}</strong>} The relay has a sealed copy that it cannot open. If this device is lost, you need a second device, a recovery phrase or an export.`}
      </p>
      <UnderWay joining={status.joining} onGoOn={() => onOpen('join')} />
      <div className="halves stack gap-5">
        <section className="panel-2 rows-top stack at-start gap-4 framed round-l pad-6" aria-label={t`A second device`}>
          <h3 className="line ink gap-4">{t`A second device`}</h3>
          <button type="button" className="solid above-3" onClick={() => onOpen('add')}>{t`Add a device`}</button>
        </section>
        <section className="panel-2 rows-top stack at-start gap-4 framed round-l pad-6" aria-label={t`Recovery phrase`}>
          <h3 className="line ink gap-4">{t`Recovery phrase`}</h3>
          <p className="break pretty">{t`24 words on paper that bring your team back on a new device.`}</p>
          <button
            type="button"
            className="solid above-3"
            onClick={() => onOpen('phrase')}
          >{t`Make a recovery phrase`}</button>
        </section>
      </div>
      {status.kept && <SecondHome kept={status.kept} />}
      <section className="devices-block stack gap-5 narrow" aria-label={t`Is your team on another device?`}>
        <h3 className="line ink gap-4">{t`Is your team on another device?`}</h3>
        <div className="devices-ways gap-4 cluster">
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

/** This device was removed from the household: what can be done here. */
function Removed({ status, onOpen }: RemovedProps) {
  return (
    <>
      <p className="text-4">
        {t`${<strong>{t`This device was removed.`}</strong>} You can still read and export what is here. It no longer syncs with your other devices.`}
      </p>
      <UnderWay joining={status.joining} onGoOn={() => onOpen('join')} />
      <div className="devices-ways gap-4 cluster">
        <button type="button" className="solid" onClick={() => onOpen('join')}>{t`Join again`}</button>
        <button type="button" className="ghost" onClick={() => onOpen('restore')}>{t`I have a recovery phrase`}</button>
        <Link href={PATHS.settings('exports')} className="ghost">{t`Export`}</Link>
      </div>
    </>
  );
}

/** Sync between devices: what is shared, with whom, and its progress. */
export function DevicesSection() {
  const { devices, notices } = useRoost();
  const { go } = useRoute();
  const status = useDevices((state) => state.status);
  const failed = useDevices((state) => state.failed);
  // State is kept here, because an action in a dialog changes the content below it.
  const [open, setOpen] = useState<DeviceDialogName | null>(null);
  const onJoined = useCallback(() => {
    notices.info(t`This device has joined. Your team is on its way here.`);
    go(PATHS.hearth);
  }, [notices, go]);
  return (
    <div className="devices stack gap-7 narrow ink-2 text-3">
      {failed !== null && (
        <Wrong reason={failed}>
          <button type="button" className="ghost" onClick={() => void devices.refresh()}>{t`Ask again`}</button>
        </Wrong>
      )}
      {status === null && failed === null && <p className="query-loading ink-3 text-3" role="status">{t`Loading…`}</p>}
      {status?.kind === 'alone' && <Alone status={status} onOpen={setOpen} />}
      {status?.kind === 'shared' && <Shared status={status} onOpen={setOpen} />}
      {status?.kind === 'returning' && <p role="status">{t`Loading…`}</p>}
      {status?.kind === 'removed' && <Removed status={status} onOpen={setOpen} />}
      <DeviceDialog open={open} onClose={() => setOpen(null)} onJoined={onJoined} />
    </div>
  );
}
