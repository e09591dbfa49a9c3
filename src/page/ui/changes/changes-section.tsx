/** The log of what the person changed, by its day, with the way back of each. */
import { errorText } from '../../state/ports.ts';
import { useEffect, useRef, useState } from 'react';
import { displayName } from '../../../shared/domain/agent.ts';
import { t } from '../../language/t.ts';
import { changedBy } from '../../../shared/protocol/documents/kinds.ts';
import type { ChangeLogView } from '../../../shared/protocol/worker.ts';
import { CHANGE_LOG, loggedOf, readChangeLog, type Logged } from '../../state/change-log.ts';
import { takeBack } from '../../state/take-back.ts';
import { useDevices, useHousehold, useRoost } from '../context.tsx';
import { Diff } from '../parts/diff.tsx';
import { SureDialog } from '../parts/sure-dialog.tsx';
import { byDay } from '../text/by-day.ts';
import { count } from '../text/sizes.ts';
import { clockTime, fullTime } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { askedFirst, changeWords, whyNot } from './words.ts';
import './changes.css';

interface Read {
  readonly view: ChangeLogView | null;
  /** Why it could not be read. */
  readonly failed: string | null;
  readonly again: () => void;
}

/** So many of the newest, read anew when something is changed here or elsewhere. */
function useChangeLog(limit: number): Read {
  const roost = useRoost();
  const [read, setRead] = useState<Omit<Read, 'again'>>({ view: null, failed: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let left = false;
    let asked = 0;
    const ask = async () => {
      const mine = ++asked;
      try {
        const view = await readChangeLog(roost, limit);
        if (!left && mine === asked) setRead({ view, failed: null });
      } catch (error) {
        if (!left) setRead(({ view }) => ({ view, failed: errorText(error) }));
      }
    };
    void ask();
    const stop = roost.owner.subscribe((news) => {
      const concerns =
        news.news === 'returned' ||
        news.news === 'forgotten' ||
        (news.news === 'documents' &&
          news.docs.some((doc) => changedBy(doc) !== null || doc.type.startsWith('forget')));
      if (concerns) void ask();
    });
    return () => {
      left = true;
      stop();
    };
  }, [roost, limit, turn]);
  return { ...read, again: () => setTurn((before) => before + 1) };
}

/** On which device, in words; null: there is one, or it is not known. */
function useDeviceName(): (device: string | null) => string | null {
  const status = useDevices((state) => state.status);
  return (device) => {
    if (device === null || status?.kind !== 'shared') return null;
    const found = status.devices.find(({ deviceId }) => deviceId === device);
    return found ? (found.self ? t`on this device` : t`on ${found.name}`) : t`on a device that was removed`;
  };
}

/** From so many lines on, what changed is unfolded by a press. */
const FOLDED = 4;

function Lines({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <ul>
      {lines.map((each) => (
        <li key={each} dir="auto">
          {each}
        </li>
      ))}
    </ul>
  );
}

interface LineProps {
  readonly logged: Logged;
  readonly nameOf: (agentId: string) => string;
  readonly device: string | null;
}

function Line({ logged, nameOf, device }: LineProps) {
  const roost = useRoost();
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const line = useRef<HTMLLIElement>(null);
  const { text, lines = [], long } = changeWords(logged, nameOf);
  const why = whyNot[logged.back];
  const question = askedFirst(logged);
  const run = async (): Promise<string | null> => {
    setBusy(true);
    const done = await takeBack(roost, logged).finally(() => setBusy(false));
    if (!done.ok) return done.reason;
    roost.notices.info(t`Undone. It stands on top of the list, and can be undone too.`);
    // The button goes with what it did.
    line.current?.focus();
    return null;
  };
  const undo = async () => {
    const failed = await run();
    if (failed !== null) roost.notices.error(t`This could not be undone: ${failed}`);
  };
  return (
    <li ref={line} className="change-line" tabIndex={-1}>
      <time dateTime={new Date(logged.time).toISOString()} title={fullTime(logged.time)}>
        {clockTime(logged.time)}
      </time>
      <div className="change-what">
        <p dir="auto">{text}</p>
        {lines.length > FOLDED || long ? (
          <details>
            <summary>{t`What changed in it`}</summary>
            <Lines lines={lines} />
            {long && <Diff {...long} />}
          </details>
        ) : (
          <Lines lines={lines} />
        )}
        {(device !== null || why !== null || logged.back === 'since') && (
          <small>
            {[device, why, logged.back === 'since' ? t`Changed again since.` : null]
              .filter((each) => each !== null)
              .join(' · ')}
          </small>
        )}
      </div>
      {why === null && (
        <button
          type="button"
          className="ghost"
          disabled={busy}
          aria-label={t`Undo: ${text}`}
          onClick={() => (question === null ? void undo() : setAsking(true))}
        >
          {t`Undo`}
        </button>
      )}
      {asking && question !== null && (
        <SureDialog
          title={t`Undo this all the same?`}
          does={[t`Undo it`, t`Undoing…`]}
          undone={t`It could not be undone`}
          onSure={run}
          onClose={() => setAsking(false)}
        >
          <p dir="auto">{text}</p>
          <p>{question}</p>
        </SureDialog>
      )}
    </li>
  );
}

export default function ChangesSection() {
  const [limit, setLimit] = useState<number>(CHANGE_LOG.page);
  const { view, failed, again } = useChangeLog(limit);
  const household = useHousehold((state) => state);
  const deviceName = useDeviceName();
  const now = useNow();
  const { roster } = household;
  const nameOf = (agentId: string) => {
    const agent = roster.byId.get(agentId);
    return agent ? displayName(agent, roster) : t`somebody who is gone`;
  };
  const logged = (view?.changes ?? []).flatMap((row) => loggedOf(row, household) ?? []);
  const more = view?.more === true && limit < CHANGE_LOG.most;
  return (
    <>
      <p className="settings-note">
        {t`What you set, on each of your devices, the newest first. An undo sets what stood there before; the rest stays as it is.`}
      </p>
      {failed !== null && (
        <div className="wrong-note" role="alert">
          <p>
            <strong>{t`What you changed could not be read.`}</strong> {failed}
          </p>
          <button type="button" className="ghost" onClick={again}>
            {t`Try again`}
          </button>
        </div>
      )}
      {view === null && failed === null && (
        <p className="query-loading" role="status">
          {t`Reading what you changed…`}
        </p>
      )}
      {view !== null && logged.length === 0 && !more && (
        <p className="setting-hint">{t`Nothing yet. What you change in settings, limits, names and faces stands here.`}</p>
      )}
      {byDay(logged, now, ({ time }) => time).map(({ day, items }) => (
        <section key={day} aria-label={day}>
          <h3>{day}</h3>
          <ol className="change-list">
            {items.map((each) => (
              <Line key={each.id} logged={each} nameOf={nameOf} device={deviceName(each.device)} />
            ))}
          </ol>
        </section>
      ))}
      {more && (
        <button
          type="button"
          className="ghost change-more"
          onClick={() => setLimit(Math.min(limit * 2, CHANGE_LOG.most))}
        >
          {t`Earlier changes`}
        </button>
      )}
      {view?.more === true && !more && (
        <p className="setting-hint">
          {t`Older ones than these ${count(CHANGE_LOG.most)} are kept, and stand in an export.`}
        </p>
      )}
    </>
  );
}
