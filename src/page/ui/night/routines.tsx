/** The list of an agent's schedules, with the history of each. */
import { useId, useState } from 'react';
import { Link } from 'wouter';
import type { ScheduleId } from '../../../shared/domain/ids.ts';
import { type Schedule, type Scheduled, SCRIPTS_OFF, WAITS_FOR_YES } from '../../../shared/protocol/schedules.ts';
import { retold, t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { Words } from '../chat/markdown.tsx';
import { OlderButton } from '../inbox/inbox.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { useNow } from '../hooks.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { MoreIcon, WarnIcon } from '../parts/icons.tsx';
import { MenuButton, type MenuItem } from '../parts/menu.tsx';
import { PATHS } from '../routes.ts';
import type { Teammate } from '../use-somebody.ts';
import { GoOn } from './account-list.tsx';
import {
  isOn,
  momentText,
  nextText,
  outcomeText,
  spentText,
  timingText,
  toneOf,
  waitsText,
  warningText,
} from './words.ts';

/** The history of a schedule, newest first. */
function History({ scheduleId }: { scheduleId: ScheduleId }) {
  const query = schedulesOf(useRoost()).history(scheduleId);
  const now = useNow();
  return (
    <QueryView query={query} what={t`The history`}>
      {({ rows, more }) =>
        rows.length === 0 ? (
          <p className="query-quiet">{t`It was not due yet.`}</p>
        ) : (
          <>
            <ol className="history" aria-label={t`History`}>
              {rows.map((one) => {
                const spent = spentText(one);
                return (
                  <li key={`${one.dueAt}`} data-tone={toneOf(one)}>
                    <p className="history-line">
                      <i className="tone-mark" aria-hidden="true" />
                      <time dateTime={new Date(one.dueAt).toISOString()}>{momentText(one.dueAt, now)}</time>
                      <b>{outcomeText(one)}</b>
                      {one.late && <span>{t`made up for late`}</span>}
                      {spent !== '' && <span>{spent}</span>}
                      <GoOn run={one} />
                    </p>
                    {one.detail !== null &&
                      (one.kind === 'script' || (toneOf(one) !== 'good' && toneOf(one) !== 'quiet')) && (
                        <p className="history-detail">{retold(one.detail)}</p>
                      )}
                    {one.said !== null && one.said !== '' && (
                      <div className="history-said">
                        <Words text={one.said} />
                      </div>
                    )}
                  </li>
                );
              })}
            </ol>
            {more && <OlderButton paged={query} label={t`Older ones`} />}
          </>
        )
      }
    </QueryView>
  );
}

interface RowProps {
  readonly scheduled: Scheduled;
  /** The relay runs scripts; `why` says why not, in its own words. */
  readonly scripts: boolean;
  readonly why: string | undefined;
  readonly onChange: (scheduled: Scheduled) => void;
  /** -1: moves it before the one above; 1: behind the one below. null where there is none. */
  readonly onMove: Readonly<Record<-1 | 1, (() => Promise<void>) | null>>;
}

/** Name, timing and kind of a schedule. */
function RoutineWords({ schedule, next, now }: { schedule: Schedule; next: string; now: number }) {
  return (
    <div className="routine-words">
      <h4 dir="auto">
        {schedule.kind === 'routine' && schedule.color !== null && (
          <i className="routine-color" style={{ background: schedule.color }} aria-hidden="true" />
        )}
        <span>{schedule.name}</span>
      </h4>
      <p>
        {schedule.kind === 'script' && <span>{`${t`Script`} · `}</span>}
        <span>{timingText(schedule.timing, now)}</span>
        <span> · </span>
        <span>{next}</span>
      </p>
      {schedule.kind === 'reminder' && (
        <p dir="auto" className="routine-message">
          “{schedule.message}”
        </p>
      )}
      {schedule.kind === 'script' && (
        <p>
          {schedule.on_failure === 'wake_agent'
            ? t`${<code>{schedule.script}</code>} wakes it only where it fails.`
            : t`${<code>{schedule.script}</code>} wakes nobody.`}{' '}
          {t`The text that you accepted runs; other files that it uses, the agent can change.`}
        </p>
      )}
    </div>
  );
}

/** A schedule, repeated or single: its timing, whether it is on, and its actions. */
function Row({ scheduled, scripts, why, onChange, onMove }: RowProps) {
  const schedules = schedulesOf(useRoost());
  const now = useNow();
  const historyId = useId();
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const { schedule, nextAt, running, elsewhere } = scheduled;
  const away = elsewhere !== null;
  /** It is locked until it is moved here, or until the person approves it. */
  const waits = away || scheduled.pausedWhy === WAITS_FOR_YES;
  const on = isOn(scheduled);
  const off = schedule.kind === 'script' && on && !scripts && !away;
  const warning = off ? t`It is not run. ${retold(why ?? SCRIPTS_OFF)}` : warningText(scheduled);
  const act = (does: () => Promise<void>) => {
    if (busy) return;
    setBusy(true);
    void does().finally(() => setBusy(false));
  };
  const items: MenuItem[] = [
    ...(!waits ? [{ label: t`Change`, run: () => onChange(scheduled) }] : []),
    ...(waits
      ? []
      : [
          {
            label: t`Duplicate`,
            ...(schedule.kind === 'reminder' ? {} : { hint: t`Switched off at first` }),
            run: () => act(() => schedules.duplicate(scheduled)),
          },
        ]),
    ...([-1, 1] as const).flatMap((way) => {
      const move = onMove[way];
      return move ? [{ label: way < 0 ? t`Move up` : t`Move down`, run: () => act(move) }] : [];
    }),
    { label: t`Delete`, run: () => act(() => schedules.remove(scheduled)) },
  ];
  const next = away
    ? elsewhere === 'asked'
      ? t`asked for at another relay`
      : t`due at another relay`
    : running > 0
      ? t`at work now`
      : !on
        ? t`off`
        : nextAt === null
          ? (waitsText(scheduled) ?? t`not due any more`)
          : t`next ${nextText(nextAt, now)}`;
  return (
    <li className="routine" data-on={on}>
      <div className="routine-line">
        {schedule.kind === 'reminder' ? (
          <span className="routine-kind">{t`Reminder`}</span>
        ) : (
          <button
            type="button"
            role="switch"
            aria-checked={on}
            aria-disabled={busy || waits}
            disabled={waits}
            aria-label={schedule.name}
            className="switch"
            onClick={() => act(() => schedules.toggle(scheduled))}
          >
            <span className="switch-knob" aria-hidden="true" />
          </button>
        )}
        <RoutineWords schedule={schedule} next={next} now={now} />
        <div className="routine-ways">
          {schedule.kind !== 'reminder' && (
            <button
              type="button"
              className="ghost"
              aria-label={t`Run now: ${schedule.name}`}
              disabled={busy || waits}
              onClick={() => act(() => schedules.runNow(scheduled))}
            >{t`Run now`}</button>
          )}
          <button
            type="button"
            className="ghost"
            aria-expanded={open}
            aria-controls={historyId}
            aria-label={t`History of ${schedule.name}`}
            onClick={() => setOpen(!open)}
          >{t`History`}</button>
          <MenuButton label={t`More for ${schedule.name}`} items={items}>
            <MoreIcon />
          </MenuButton>
        </div>
      </div>
      {warning !== null && (
        <p className="routine-warning">
          <WarnIcon /> {warning}
        </p>
      )}
      <div id={historyId} hidden={!open}>
        {open && <History scheduleId={scheduled.scheduleId} />}
      </div>
    </li>
  );
}

/** All schedules of one agent. */
export function AgentGroup({
  mate,
  scheduled,
  scripts,
  why,
  onChange,
  onSwap,
}: {
  mate: Teammate;
  scheduled: readonly Scheduled[];
  scripts: boolean;
  why: string | undefined;
  onChange: (scheduled: Scheduled) => void;
  onSwap: (one: string, other: string) => Promise<void>;
}) {
  const swapping = (one: Scheduled, other: Scheduled | undefined) =>
    other ? () => onSwap(one.scheduleId, other.scheduleId) : null;
  return (
    <section className="routine-group" aria-label={t`Routines of ${mate.name}`}>
      <h3>
        <span className="routine-face">
          <FaceOf agentId={mate.agentId} />
        </span>
        <Link href={PATHS.agent(mate.agentId)} style={{ '--c': mate.color }} className="name-link tint">
          <span dir="auto">{mate.name}</span>
        </Link>
      </h3>
      <ul className="routines">
        {scheduled.map((one, i) => (
          <Row
            key={one.scheduleId}
            scheduled={one}
            scripts={scripts}
            why={why}
            onChange={onChange}
            onMove={{ [-1]: swapping(one, scheduled[i - 1]), 1: swapping(one, scheduled[i + 1]) }}
          />
        ))}
      </ul>
    </section>
  );
}
