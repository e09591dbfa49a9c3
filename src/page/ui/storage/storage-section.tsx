/** Settings section: this device's storage, its checks, and forgets that can still be undone. */
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { ExportNote, WorkerProgress, RebuildReport, StorageStatus } from '../../../shared/protocol/worker.ts';
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { retold, t } from '../../language/t.ts';
import { leadNameOf, rosterOfDocs } from '../../state/household.ts';
import { errorText } from '../../state/ports.ts';
import { relayRoom } from '../../state/records.ts';
import { useActions, useDevices, useHousehold, useInfo, useRoost, useUpkeep } from '../context.tsx';
import { Progress } from '../design/progress.tsx';
import { asBeginning, bytes, count, plural } from '../text/sizes.ts';
import { clockTime, dayWithin, duration, fullTime } from '../text/time.ts';
import { useNow, useQuery } from '../hooks.ts';
import { PATHS } from '../routes.ts';
import { protectionText } from '../text/devices.ts';
import { storageTrouble } from './trouble.ts';
import { kindGroups } from '../text/kinds.ts';
import { shortages } from '../text/room.ts';
import './storage.css';

const TASKS: Record<WorkerProgress['task'], string> = {
  rebuild: t`Rebuilding: every entry is looked at`,
  forget: t`Removing what was forgotten for good`,
  replay: t`Taking up what was in the journal`,
};

/** The current work of the data worker, in every tab. */
function Work() {
  const progress = useUpkeep((state) => state.progress);
  if (!progress) return null;
  const { task, done, of } = progress;
  return (
    <Progress
      label={TASKS[task]}
      done={done}
      of={of}
      text={of > 0 ? t`${count(Math.min(done, of))} of ${plural(of, 'entry', 'entries')}` : t`Loading…`}
    />
  );
}

function Report({ report }: { report: RebuildReport }) {
  const { documents, volumes, repaired, faults } = report;
  return (
    <div className="stack gap-4 break">
      <p>
        <strong className={faults.length > 0 ? 'danger' : 'good'}>
          {faults.length > 0 ? t`Rebuilt, with losses.` : t`Rebuilt.`}
        </strong>{' '}
        <span>
          {documents === 1
            ? t`One entry in ${plural(volumes, 'volume')} was looked at, and the lists are new.`
            : t`${count(documents)} entries in ${plural(volumes, 'volume')} were looked at, and the lists are new.`}
        </span>{' '}
        {repaired > 0 && (
          <span>
            {plural(
              repaired,
              'entry that a volume had lost was found elsewhere and written again.',
              'entries that a volume had lost were found elsewhere and written again.',
            )}
          </span>
        )}
        {repaired === 0 && faults.length === 0 && <span>{t`Nothing was missing.`}</span>}
      </p>
      {faults.length > 0 && (
        <>
          <p>{t`This could not be read anywhere on this device. A copy that you exported may have it: import it, and what is missing comes back.`}</p>
          <ul className="danger bulleted">
            {faults.map((fault) => (
              <li key={fault}>{retold(fault)}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** Checks every volume, repairs what it can, and rebuilds the views. */
function Rebuild() {
  const actions = useActions();
  const rebuild = useUpkeep((state) => state.rebuild);
  const elsewhere = useUpkeep((state) => state.progress?.task === 'rebuild');
  const running = rebuild.kind === 'running' || elsewhere;
  return (
    <>
      <p>{t`Checks everything stored here, repairs what it can, and rebuilds this page’s lists. Nothing is deleted. Use it when something is missing or a check found a fault.`}</p>
      <button
        type="button"
        className="ghost"
        aria-disabled={running}
        onClick={() => (running ? undefined : void actions.rebuild())}
      >
        {running ? t`Working…` : t`Rebuild`}
      </button>
      <div role="status">
        {rebuild.kind === 'done' && <Report report={rebuild.report} />}
        {rebuild.kind === 'failed' && (
          <p className="wrong-note">
            {t`${<strong>{t`Could not do this.`}</strong>} ${rebuild.reason} Everything is as it was; try again.`}
          </p>
        )}
      </div>
    </>
  );
}

/** Forgets that can still be undone, in words. */
const DAY = 24 * 60 * 60 * 1000;

/** `30 days left`, `1 day left`, `less than a day left` */
function daysLeft(finalAt: number, now: number): string {
  const days = Math.floor((finalAt - now) / DAY);
  return days < 1 ? t`less than a day left` : plural(days, 'day left', 'days left');
}

function Leaving({ forget, name: what, color, now }: { forget: ForgetDoc; name: string; color: string; now: number }) {
  const actions = useActions();
  const { notices } = useRoost();
  const keep = async () => {
    const kept = await actions.keep(forget._id);
    if (kept.ok) notices.info(t`${what} is kept.`);
    else notices.error(t`Could not save this. ${kept.reason}`);
  };
  return (
    <li className="cluster gap-4 pad box tint" style={{ '--c': color }}>
      <span className="grow">
        <b className="agent-name named" dir="auto">
          {what}
        </b>
        <small className="block">{t`${daysLeft(forget.finalAt, now)} · gone for good ${fullTime(forget.finalAt)}`}</small>
      </span>
      <button
        type="button"
        className="ghost"
        aria-label={t`Keep after all: ${what}`}
        onClick={() => void keep()}
      >{t`Keep after all`}</button>
    </li>
  );
}

/** The forgets that can still be undone. Renders nothing if there are none. */
function BeingForgotten() {
  const { device } = useRoost();
  const all = useHousehold((state) => state.forgetting);
  const identities = useHousehold((state) => state.identities);
  const changes = useHousehold((state) => state.changes);
  const settings = useHousehold((state) => state.settings);
  const now = useNow();
  const everybody = useMemo(() => rosterOfDocs(identities.values(), changes.values()), [identities, changes]);
  const forgetting = all.flatMap((forget) =>
    forget.target.kind === 'agent' && forget.finalAt > device.now() ? [{ forget, agentId: forget.target.agentId }] : [],
  );
  if (forgetting.length === 0) return null;
  return (
    <section className="store-block ruled gap-4 stack at-start narrow" aria-label={t`Being forgotten`}>
      <h3>{t`Being forgotten`}</h3>
      <p>{t`Out of sight, and not gone yet. Until its day, everything can be kept after all; after it, nothing brings it back.`}</p>
      <ul className="full stack gap-4">
        {forgetting.map(({ forget, agentId }) => {
          const agent = everybody.byId.get(agentId);
          const name = agentId === LEAD_ID ? leadNameOf(everybody, settings) : (agent?.name ?? t`somebody`);
          return (
            <Leaving key={forget._id} forget={forget} name={name} color={agent?.color ?? 'currentColor'} now={now} />
          );
        })}
      </ul>
    </section>
  );
}

// The state of this device's storage, for the two sections that show it.

/** ms between checks of the storage while its page is open. */
const REFRESH_EVERY = 2000;

interface Storage {
  /** null until the first check. */
  readonly status: StorageStatus | null;
  /** Why the last check failed, or null. */
  readonly failed: string | null;
  refresh(): Promise<void>;
}

/** The state of the storage, updated while the page is open. */
function useStorage(): Storage {
  const { dataWorker, device } = useRoost();
  const [status, setStatus] = useState<StorageStatus | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const refresh = useCallback(
    () =>
      dataWorker.call('storage').then(
        (now) => {
          setStatus(now);
          setFailed(null);
        },
        (error: unknown) => setFailed(errorText(error)),
      ),
    [dataWorker],
  );
  useEffect(() => {
    let stopped = false;
    let stop: () => void = () => undefined;
    const again = async () => {
      // A hidden page checks nothing.
      if (!document.hidden) await refresh();
      if (!stopped) stop = device.after(REFRESH_EVERY, () => void again());
    };
    void again();
    return () => {
      stopped = true;
      stop();
    };
  }, [device, refresh]);
  return { status, failed, refresh };
}

/** Did a check find a fault? */
const faulty = ({ volumes }: StorageStatus): boolean =>
  volumes.some(({ state, faults }) => state === 'damaged' || faults.length > 0);

function Block({ title, state, children }: { title: string; state?: 'good' | 'warn'; children: ReactNode }) {
  return (
    <section className="store-block ruled gap-4 stack at-start narrow" aria-label={title}>
      <h3 className="line gap-4 ink">
        {state && <i className={`dot ${state === 'warn' ? 'dot-asks' : 'dot-live'}`} aria-hidden="true" />}
        <span>{title}</span>
      </h3>
      {children}
    </section>
  );
}

/** Says that the storage was not read yet, or could not be. */
function NotRead({ storage: { status, failed, refresh } }: { storage: Storage }) {
  return (
    <>
      {failed !== null && (
        <div className="wrong-note" role="alert">
          <p>
            <strong>{t`Could not load this.`}</strong> {failed}{' '}
            {status && <span>{t`What is shown below is from before.`}</span>}
          </p>
          <button type="button" className="ghost" onClick={() => void refresh()}>{t`Try again`}</button>
        </div>
      )}
      {!status && failed === null && <p className="settings-note under-6 ink-2 text-3" role="status">{t`Loading…`}</p>}
    </>
  );
}

/** Age of the last copy in ms after which the page suggests another one: 30 days. */
const OLD_AFTER = 30 * 24 * 60 * 60 * 1000;

/**
 * When a complete copy was last exported, with a reminder if that is long ago or never happened.
 */
function LastCopy({ note, now }: { note: ExportNote | null; now: number }) {
  const due = note === null || now - note.time > OLD_AFTER;
  return (
    <>
      <p>
        {note === null ? (
          <>
            {t`${<strong className="ink">{t`Never: no copy has left this device.`}</strong>} What the relay keeps is sealed with a key that lies on your devices. If this browser’s data is cleared or the disk breaks, and there is no other device and no phrase, your agents are gone. One file keeps them.`}
          </>
        ) : (
          <>
            <strong>
              {asBeginning(dayWithin(note.time, now))} {clockTime(note.time)}
            </strong>
            <span>: </span>
            <span>{plural(note.documents, 'entry', 'entries')}</span>
            <span>,</span> <span>{note.sealed ? t`under a passphrase` : t`without a passphrase`}</span>
            <span>.</span>
            {due && <span>{t` That is ${duration(now - note.time)} ago: what came since is only here.`}</span>}
          </>
        )}
      </p>
      <Link className={due ? 'solid inline-flex unlined middle' : 'ghost'} href={PATHS.settings('exports')}>
        {note === null ? t`Make the first copy` : t`Make a copy`}
      </Link>
    </>
  );
}

/** The documents by kind: a bar for the share, and the numbers in words. */
function Kinds({ kinds }: { kinds: StorageStatus['kinds'] }) {
  const groups = kindGroups(kinds);
  const most = groups[0]?.chars ?? 0;
  if (groups.length === 0) return <p className="setting-hint">{t`Nothing yet.`}</p>;
  return (
    <table className="kinds table table-figures">
      <caption className="visually-hidden">{t`What is stored, by kind`}</caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">{t`Kind`}</span>
          </th>
          <td aria-hidden="true" />
          <th scope="col">{t`entries`}</th>
          <th scope="col">{t`as text`}</th>
        </tr>
      </thead>
      <tbody>
        {groups.map(({ name, documents, chars }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="kinds-bar" aria-hidden="true">
              <span className="used-bar block">
                <i style={{ '--share': most === 0 ? 0 : Math.max(0.01, chars / most) }} />
              </span>
            </td>
            <td>{count(documents)}</td>
            <td>{bytes(chars)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * The relay's disk usage in one line, and what is short there. Renders nothing until it is known.
 */
function RelayRoom() {
  const room = useQuery(relayRoom(useRoost()));
  if (room.kind !== 'ready') return null;
  return (
    <>
      <p className="setting-hint">{t`The relay takes ${bytes(room.value.bytes)} on its own disk.`}</p>
      {shortages(room.value).map((line) => (
        <p key={line} className="setting-hint" role="status">
          {line}
        </p>
      ))}
    </>
  );
}

function KeptForGood({ persisted, onAsked }: { persisted: boolean | null; onAsked: () => Promise<void> }) {
  const { device, notices } = useRoost();
  const ask = async () => {
    const granted = await device.persist();
    if (granted) notices.info(t`Yes: the browser keeps it until you clear it yourself.`);
    else notices.error(t`Not promised: when the disk runs full, the browser may clear what is stored here.`);
    await onAsked();
  };
  return (
    <>
      <p>
        {persisted === null
          ? t`This browser does not say whether it keeps what is stored when the disk runs full.`
          : persisted
            ? t`Yes: the browser keeps it until you clear it yourself.`
            : t`Not promised: when the disk runs full, the browser may clear what is stored here.`}
      </p>
      {persisted !== true && (
        <button type="button" className="ghost" onClick={() => void ask()}>{t`Ask the browser to keep it`}</button>
      )}
    </>
  );
}

function used({ usedBytes, quotaBytes }: StorageStatus): ReactNode {
  if (usedBytes === null) return t`The browser does not say how much room it takes.`;
  return (
    <>
      <strong className="text-5 figures ink">{bytes(usedBytes)}</strong>
      {quotaBytes === null || <span>{t` of ${bytes(quotaBytes)} that the browser allows`}</span>}
    </>
  );
}

/** What is stored on this device, how safely, and how much space it takes. */
export function StorageSection() {
  const problem = useInfo((state) => state.problem);
  const storage = useStorage();
  const { status, refresh } = storage;
  const now = useNow();
  const trouble = problem && storageTrouble(problem);
  const kept = useDevices(({ status: sync }) =>
    sync?.kind === 'shared' ? sync : sync?.kind === 'alone' ? sync.kept : null,
  );
  return (
    <div className="store gap-7 stack ink-2 text-3">
      {trouble && (
        <p className="wrong-note" role="alert">
          <strong>{trouble.title}.</strong> {trouble.advice}
        </p>
      )}
      <Work />
      <NotRead storage={storage} />
      {status && (
        <>
          <Block title={t`Last copy`} state={status.lastExport === null ? 'warn' : 'good'}>
            <LastCopy note={status.lastExport} now={now} />
          </Block>
          {kept && (
            <Block title={t`Kept a second time`} state={kept.link === 'off' && !kept.files ? 'warn' : 'good'}>
              <p>{protectionText(kept)}</p>
              <Link className="ghost" href={PATHS.settings('devices')}>{t`Show devices`}</Link>
            </Block>
          )}
          <Block title={t`Kept for good`} state={status.persisted === true ? 'good' : 'warn'}>
            <KeptForGood persisted={status.persisted} onAsked={refresh} />
          </Block>
          <Block title={t`Space used`}>
            <p>
              {used(status)}
              <span className="store-documents ink-3 inline-block">{plural(status.documents, 'entry', 'entries')}</span>
            </p>
            <RelayRoom />
            <Kinds kinds={status.kinds} />
          </Block>
          <BeingForgotten />
          {faulty(status) && (
            <div className="wrong-note" role="alert">
              <p>{t`${<strong>{t`A check found a fault in what is stored.`}</strong>} Rebuild mends what it can.`}</p>
              <ul>
                {status.volumes.flatMap(({ faults }) => faults.map((fault) => <li key={fault}>{retold(fault)}</li>))}
              </ul>
            </div>
          )}
        </>
      )}
      <Block title={t`Rebuild`}>
        <Rebuild />
      </Block>
    </div>
  );
}
