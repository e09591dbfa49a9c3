import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import type { StorageStatus, ExportNote } from '../../../shared/protocol/worker.ts';
import { useDevices, useInfo, useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { protectionText } from '../text/devices.ts';
import { storageTrouble } from '../text/reasons.ts';
import { bytes, count, plural } from '../text/sizes.ts';
import { useNow } from '../use-now.ts';
import { BeingForgotten } from './being-forgotten.tsx';
import { kindGroups } from '../text/kinds.ts';
import { clockTime, dayWithin, duration } from '../text/time.ts';
import { Rebuild, Work } from './rebuild.tsx';
import { relayRoom } from '../../state/relay-room.ts';
import { shortages } from '../text/room.ts';
import { useQuery } from '../use-query.ts';
import { Block, faulty, NotRead, useStorage } from './use-storage.tsx';
import './storage.css';

/** A copy older than this is worth another one: 30 days, in ms. */
const OLD_AFTER = 30 * 24 * 60 * 60 * 1000;

/** When a whole copy last left this device, and a nudge where that is long ago or never was. */
function LastCopy({ note, now }: { note: ExportNote | null; now: number }) {
  const due = note === null || now - note.time > OLD_AFTER;
  return (
    <>
      <p>
        {note === null ? (
          <>
            {t`${<strong>{t`Never: no copy has left this device.`}</strong>} What the relay keeps is sealed with a key that lies on your devices. If this browser’s data is cleared or the disk breaks, and there is no other device and no phrase, your agents are gone. One file keeps them.`}
          </>
        ) : (
          <>
            <strong>
              {dayWithin(note.time, now).replace(/^./, (letter) => letter.toUpperCase())} {clockTime(note.time)}
            </strong>
            <span>: </span>
            <span>{plural(note.documents, 'entry', 'entries')}</span>
            <span>,</span> <span>{note.sealed ? t`under a passphrase` : t`without a passphrase`}</span>
            <span>.</span>
            {due && <span>{t` That is ${duration(now - note.time)} ago: what came since is only here.`}</span>}
          </>
        )}
      </p>
      <Link className={due ? 'solid solid-link' : 'ghost'} href={PATHS.settings('copies')}>
        {note === null ? t`Make the first copy` : t`Make a copy`}
      </Link>
    </>
  );
}

/** What there is, by kind: a bar for its share, and the figures in words beside it. */
function Kinds({ kinds }: { kinds: StorageStatus['kinds'] }) {
  const groups = kindGroups(kinds);
  const most = groups[0]?.chars ?? 0;
  if (groups.length === 0) return <p className="setting-hint">{t`Nothing is stored yet.`}</p>;
  return (
    <table className="kinds">
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
              <i style={{ '--share': `${most === 0 ? 0 : Math.max(1, (chars / most) * 100)}%` }} />
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
 * What the relay has on its disk, in one line, and what is short there. Nothing is drawn until it
 * is known.
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
    if (granted) notices.info(t`The browser will keep what is stored here.`);
    else
      notices.error(
        t`The browser did not promise to keep it. It often does once a page is bookmarked, installed, or used for a while.`,
      );
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
      <strong className="store-figure">{bytes(usedBytes)}</strong>
      {quotaBytes === null || <span>{t` of ${bytes(quotaBytes)} that the browser allows`}</span>}
    </>
  );
}

/** What is kept on this device, how safely, and how much room it takes. */
export function StorageSection() {
  const problem = useInfo((state) => state.problem);
  const storage = useStorage();
  const { status, look } = storage;
  const now = useNow();
  const trouble = problem && storageTrouble(problem);
  const kept = useDevices(({ status: sync }) =>
    sync?.kind === 'shared' ? sync : sync?.kind === 'alone' ? sync.kept : null,
  );
  return (
    <div className="store">
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
              <Link className="ghost" href={PATHS.settings('devices')}>{t`Show how it stands`}</Link>
            </Block>
          )}
          <Block title={t`Kept for good`} state={status.persisted === true ? 'good' : 'warn'}>
            <KeptForGood persisted={status.persisted} onAsked={look} />
          </Block>
          <Block title={t`Space used`}>
            <p>
              {used(status)}
              <span className="store-documents">{plural(status.documents, 'entry', 'entries')}</span>
            </p>
            <RelayRoom />
            <Kinds kinds={status.kinds} />
          </Block>
          <BeingForgotten />
          {faulty(status) && (
            <p className="wrong-note" role="alert">
              <span>
                {t`${<strong>{t`A check found a fault in what is stored.`}</strong>} Rebuild mends what it can.`}{' '}
                <Link href={PATHS.settings('inside')}>{t`Look inside`}</Link>
              </span>
            </p>
          )}
        </>
      )}
      <Block title={t`Rebuild`}>
        <Rebuild />
      </Block>
    </div>
  );
}
