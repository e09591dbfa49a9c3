/** Settings section: this device's storage, its checks, and forgets that can still be undone. */
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { ExportNote, RebuildReport, StorageStatus } from '../../../shared/protocol/worker.ts';
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { retold, t } from '../../language/t.ts';
import { leadNameOf, rosterOfDocs } from '../../state/household.ts';
import { errorText } from '../../state/ports.ts';
import { relayRoom } from '../../state/records.ts';
import { useActions, useDevices, useHousehold, useInfo, useRoost, useUpkeep } from '../context.tsx';
import { Progress } from '../design/progress.tsx';
import { asBeginning, bytes, count, plural } from '../text/sizes.ts';
import { clockTime, dayWithin, fullTime } from '../text/time.ts';
import { useNow, useQuery } from '../hooks.ts';
import { PATHS } from '../routes.ts';
import { protectionText } from '../text/devices.ts';
import { storageTrouble } from './trouble.ts';
import { shortages } from '../text/room.ts';
import './storage.css';

/** The current work of the data worker, in every tab. */
function Work() {
  const progress = useUpkeep((state) => state.progress);
  if (!progress) return null;
  const { task, done, of } = progress;
  return <Progress label={task === 'rebuild' ? t`Rebuild` : t`Cleaning up the storage`} done={done} of={of} />;
}

function Report({ report }: { report: RebuildReport }) {
  const { documents, repaired, faults } = report;
  return (
    <div className="stack gap-4 break">
      <p>
        <strong className={faults.length > 0 ? 'danger' : 'good'}>
          {faults.length > 0 ? t`Rebuilt, with losses.` : t`Rebuilt.`}
        </strong>{' '}
        {t`${plural(documents, 'entry', 'entries')} checked, ${count(repaired)} repaired.`}
      </p>
      {faults.length > 0 && (
        <>
          <p>{t`This could not be read on this device. Import an exported copy to bring it back.`}</p>
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
      <p>{t`Use this when something is missing. It checks and repairs what is stored here, and deletes nothing.`}</p>
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
        {rebuild.kind === 'failed' && <p className="wrong-note">{rebuild.reason}</p>}
      </div>
    </>
  );
}

/** Forgets that can still be undone, in words. */
const DAY = 24 * 60 * 60 * 1000;

/** `30 days left`, `1 day left`, `less than a day left` */
function daysLeft(finalAt: number, now: number): string {
  const days = Math.floor((finalAt - now) / DAY);
  return days < 1 ? t`today` : plural(days, 'day left', 'days left');
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
        <small className="block">{t`${daysLeft(forget.finalAt, now)} · deleted ${fullTime(forget.finalAt)}`}</small>
      </span>
      <button
        type="button"
        className="ghost"
        aria-label={t`${t`Keep after all`}: ${what}`}
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
      <p>{t`You can keep these until their day. After it, nothing brings them back.`}</p>
      <ul className="full stack gap-4">
        {forgetting.map(({ forget, agentId }) => {
          const agent = everybody.byId.get(agentId);
          const name = agentId === LEAD_ID ? leadNameOf(everybody, settings) : (agent?.name ?? t`somebody who is gone`);
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
          <p>{failed}</p>
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
            {t`${<strong className="ink">{t`Never.`}</strong>} Without an export, a second device or a recovery phrase, your agents are lost with this browser’s data.`}
          </>
        ) : (
          <>
            <strong>
              {asBeginning(dayWithin(note.time, now))} {clockTime(note.time)}
            </strong>
            <span>: </span>
            <span>{plural(note.documents, 'entry', 'entries')}</span>
            {note.sealed && <span>{`, ${t`with a passphrase`}`}</span>}
            <span>.</span>
          </>
        )}
      </p>
      <Link className={due ? 'solid inline-flex unlined middle' : 'ghost'} href={PATHS.settings('exports')}>
        {t`Export`}
      </Link>
    </>
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
      <p className="setting-hint">{t`On the relay: ${bytes(room.value.bytes)}`}</p>
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
    if (granted) notices.info(t`The browser keeps it until you clear it.`);
    else notices.error(t`The browser may clear it when the disk is full.`);
    await onAsked();
  };
  return (
    <>
      <p>
        {persisted === true
          ? t`The browser keeps it until you clear it.`
          : t`The browser may clear it when the disk is full.`}
      </p>
      {persisted !== true && (
        <button type="button" className="ghost" onClick={() => void ask()}>{t`Ask the browser to keep it`}</button>
      )}
    </>
  );
}

function used({ usedBytes, quotaBytes }: StorageStatus): ReactNode {
  if (usedBytes === null) return t`unknown`;
  const size = <strong className="text-5 figures ink">{bytes(usedBytes)}</strong>;
  return quotaBytes === null ? size : <span>{t`${size} of ${bytes(quotaBytes)}`}</span>;
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
          <Block title={t`Last export`} state={status.lastExport === null ? 'warn' : 'good'}>
            <LastCopy note={status.lastExport} now={now} />
          </Block>
          {kept && (
            <Block title={t`Second copy`} state={kept.link === 'off' && !kept.files ? 'warn' : 'good'}>
              <p>{protectionText(kept)}</p>
              <Link className="ghost" href={PATHS.settings('devices')}>{t`Devices`}</Link>
            </Block>
          )}
          <Block title={t`Protected from clearing`} state={status.persisted === true ? 'good' : 'warn'}>
            <KeptForGood persisted={status.persisted} onAsked={refresh} />
          </Block>
          <Block title={t`Space used`}>
            <p>
              {used(status)}
              <span className="store-documents ink-3 inline-block">{plural(status.documents, 'entry', 'entries')}</span>
            </p>
            <RelayRoom />
          </Block>
          <BeingForgotten />
          {faulty(status) && (
            <div className="wrong-note" role="alert">
              <p>{t`The storage is damaged. Rebuild repairs what it can.`}</p>
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
