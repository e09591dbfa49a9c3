/** The summary of what agents did while the person was away. */
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { AgentId, RunId, ScheduleId } from '../../../shared/domain/ids.ts';
import type { EndedAttempt } from '../../../shared/protocol/attempts.ts';
import type { Occurrence } from '../../../shared/protocol/schedules.ts';
import { canGoOn } from '../../../shared/domain/schedule/timing.ts';
import { retold, t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { onePerPage } from '../../state/per-page.ts';
import { useRoost } from '../context.tsx';
import { useTeammates } from '../use-somebody.ts';
import { Words } from '../chat/markdown.tsx';
import { FileCards, FilesOfRun } from '../files/files-of-run.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { PATHS } from '../routes.ts';
import { costText } from '../text/money.ts';
import { useNow } from '../hooks.ts';
import { attemptsOf, Receipts } from './receipts.tsx';
import { momentText, outcomeText, toneOf, whatText } from './words.ts';
import './morning.css';

// Computes the summary from the occurrences. Pure.

/** The outcomes of one routine: its latest message, and the count of each outcome. */
interface ActivityEntry {
  readonly key: string;
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly name: string;
  readonly kind: Occurrence['kind'];
  /** Runs that succeeded. */
  readonly done: number;
  /** The last of them; null: none. */
  readonly lastDone: Occurrence | null;
  /**
   * Failed occurrences, and skipped ones with work to do: the newest of each sort, and the count.
   */
  readonly troubles: readonly { readonly newest: Occurrence; readonly count: number }[];
  /** Its runs. */
  readonly runIds: readonly RunId[];
  /** At least one run of it began. */
  readonly ran: boolean;
  readonly costMicroUsd: number;
  /** Some of these figures are upper bounds. */
  readonly estimated: boolean;
}

/**
 * Number of occurrences that ended in (`since`, `upTo`] because nothing waited. They called no
 * model and are shown as one figure.
 */
export const idleIn = (occurrences: readonly Occurrence[], since: number, upTo: number): number =>
  occurrences.filter(
    ({ reason, endedAt }) => reason === 'nothing-waits' && endedAt !== null && endedAt > since && endedAt <= upTo,
  ).length;

/**
 * A delivered reminder, or a script that woke its agent, and the run that followed. Both are in the
 * log, as one occurrence each.
 */
const isWhatFollowed = ({ kind, runId }: Occurrence) => (kind === 'reminder' || kind === 'script') && runId !== null;

/**
 * Summary of the occurrences that ended in (`since`, `upTo`], newest first. Idle and cancelled ones
 * are left out.
 */
export function activityOf(newestFirst: readonly Occurrence[], since: number, upTo: number): readonly ActivityEntry[] {
  const lines = new Map<string, ActivityEntry>();
  for (const occurrence of newestFirst) {
    const tone = toneOf(occurrence);
    if (occurrence.endedAt === null || occurrence.endedAt <= since || occurrence.endedAt > upTo) continue;
    if (tone === 'quiet' || tone === 'open') continue;
    // Wakes of one agent share a schedule id. Each waker has a line.
    const key = `${occurrence.scheduleId} ${occurrence.kind === 'wake' ? occurrence.name : ''}`;
    const line = lines.get(key) ?? {
      key,
      scheduleId: occurrence.scheduleId,
      agentId: occurrence.agentId,
      name: whatText(occurrence),
      kind: occurrence.kind,
      done: 0,
      lastDone: null,
      troubles: [],
      runIds: [],
      ran: false,
      costMicroUsd: 0,
      estimated: false,
    };
    const same = ({ newest }: { readonly newest: Occurrence }) =>
      newest.state === occurrence.state && newest.reason === occurrence.reason;
    const troubles = line.troubles.some(same)
      ? line.troubles.map((trouble) => (same(trouble) ? { ...trouble, count: trouble.count + 1 } : trouble))
      : [...line.troubles, { newest: occurrence, count: 1 }];
    lines.set(key, {
      ...line,
      done: line.done + (tone === 'good' && !isWhatFollowed(occurrence) ? 1 : 0),
      // An occurrence with a message wins over one without: the run that followed has the message.
      lastDone:
        tone === 'good' && (!line.lastDone || (isWhatFollowed(occurrence) && !line.lastDone.said))
          ? occurrence
          : line.lastDone,
      troubles: tone === 'good' ? line.troubles : troubles,
      runIds: occurrence.runId === null ? line.runIds : [...line.runIds, occurrence.runId],
      ran: line.ran || occurrence.runId !== null,
      costMicroUsd: line.costMicroUsd + (occurrence.costMicroUsd ?? 0),
      estimated: line.estimated || occurrence.estimated,
    });
  }
  return [...lines.values()];
}

function GoOnButton({ run, runId }: { run: Occurrence; runId: RunId }) {
  const schedules = schedulesOf(useRoost());
  const mate = useTeammates().find(run.agentId);
  const [state, setState] = useState<'open' | 'asked' | 'begun'>('open');
  if (state === 'begun') return <small className="goes-on">{t`continued`}</small>;
  const goOn = () => {
    if (state !== 'open') return;
    setState('asked');
    schedules.goOn(runId).then(
      (goes) => setState(goes ? 'begun' : 'open'),
      () => setState('open'),
    );
  };
  return (
    <button
      type="button"
      className="ghost go-on"
      aria-label={t`${t`Continue`}: ${`${mate.name}, ${whatText(run)}`}`}
      disabled={state === 'asked'}
      onClick={goOn}
    >{t`Continue`}</button>
  );
}

/**
 * Lets an agent continue a run that did not finish, and reports the success. Shows nothing for
 * other runs.
 */
export function GoOn({ run }: { run: Occurrence }) {
  if (run.continuedBy !== null) return <small className="goes-on">{t`continued`}</small>;
  return run.runId !== null && canGoOn(run) ? <GoOnButton key={run.runId} run={run} runId={run.runId} /> : null;
}

/**
 * The outcomes by agent, in the agents' own last words, and what went wrong. Each line leads to the
 * agent, its schedules or its wakes.
 */
export function ActivityList({
  lines,
  attempts = [],
  withFiles = false,
}: {
  lines: readonly ActivityEntry[];
  /** Attempts at tasks that ended meanwhile. */
  attempts?: readonly EndedAttempt[];
  /** Shows a card for each file that a run changed. */
  withFiles?: boolean;
}) {
  const team = useTeammates();
  const now = useNow();
  return (
    <ul className="account stack gap-5" aria-label={t`Activity`}>
      {lines.map((line) => {
        const mate = team.find(line.agentId);
        const { lastDone } = line;
        return (
          <li key={line.key} className="tint stack gap-4" style={{ '--c': mate.color }}>
            <span className="account-face">
              <FaceOf agentId={mate.agentId} />
            </span>
            <div>
              <p className="flex baseline wrap break gap-x-4">
                <Link href={PATHS.agent(mate.agentId)} className="account-name named unlined">
                  <span dir="auto">{mate.name}</span>
                </Link>
                <Link
                  href={line.kind === 'wake' ? PATHS.activity('wakes', mate.agentId) : PATHS.schedule(mate.agentId)}
                  dir="auto"
                >
                  {line.name}
                </Link>
                {lastDone && (
                  <small>
                    {line.done > 1 && <span>{`${line.done} × `}</span>}
                    <span>{momentText(lastDone.dueAt, now)}</span>
                  </small>
                )}
                {line.ran && <small>{line.costMicroUsd > 0 ? costText(line) : t`free`}</small>}
              </p>
              <Receipts attempts={attemptsOf(line.runIds, attempts)} />
              {lastDone !== null && lastDone.said !== null && lastDone.said !== '' && (
                <div className="account-said scroll ink-2">
                  <Words text={lastDone.said} />
                </div>
              )}
              {lastDone !== null && lastDone.runId !== null && (
                <p className="account-files">
                  <FilesOfRun agentId={mate.agentId} runId={lastDone.runId} />
                </p>
              )}
              {withFiles && line.runIds.map((runId) => <FileCards key={runId} agentId={mate.agentId} runId={runId} />)}
              {line.troubles.map(({ newest, count }) => (
                <p
                  key={outcomeText(newest)}
                  className="gap-3 flex baseline wrap break ink-2"
                  data-tone={toneOf(newest)}
                >
                  <i className="tone-mark rounded fixed inline-block" aria-hidden="true" />
                  <Link href={PATHS.schedule(mate.agentId)}>
                    {count > 1 && <span>{`${count} × `}</span>}
                    <span>{outcomeText(newest)}</span>
                    <span>, </span>
                    <span>{momentText(newest.dueAt, now)}</span>
                  </Link>
                  {newest.detail !== null && toneOf(newest) === 'bad' && <span>{retold(newest.detail)}</span>}
                  {newest.runId !== null && <FilesOfRun agentId={mate.agentId} runId={newest.runId} />}
                  <GoOn run={newest} />
                </p>
              ))}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

/** ms out of view or without input, after which the person counts as away. */
const AWAY_MS = 10 * 60_000;
/** ms between two looks whether the person is away. */
const LOOK_EVERY_MS = 60_000;
const INPUTS = ['pointerdown', 'keydown'] as const;

// Per page and not per view: what happens while the page is open is not news later.
const openedOf = onePerPage(({ device }) => createStore<{ readonly at: number }>()(() => ({ at: device.now() })));

/**
 * When the person opened the page, or returned to it; ms since the epoch. While the person is away
 * from an open page it moves along, so that the page shows what happened meanwhile.
 */
export function useOpenedAt(): number {
  const state = useRoost();
  const opened = openedOf(state);
  useEffect(() => {
    const { device } = state;
    let activeAt = device.now();
    let stop: () => void = () => undefined;
    const update = () => {
      if (device.now() - activeAt >= AWAY_MS) opened.setState({ at: device.now() });
    };
    const beActive = () => {
      update();
      activeAt = device.now();
    };
    const look = () => {
      update();
      stop = device.after(LOOK_EVERY_MS, look);
    };
    stop = device.after(LOOK_EVERY_MS, look);
    for (const input of INPUTS) document.addEventListener(input, beActive);
    document.addEventListener('visibilitychange', beActive);
    return () => {
      stop();
      for (const input of INPUTS) document.removeEventListener(input, beActive);
      document.removeEventListener('visibilitychange', beActive);
    };
  }, [state, opened]);
  return useStore(opened, ({ at }) => at);
}
