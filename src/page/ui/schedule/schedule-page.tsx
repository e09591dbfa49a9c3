/**
 * The page of schedules: active runs, proposals, routines by agent, agent snapshots, and the switch
 * that stops all wakes.
 */
import { useId, useState } from 'react';
import { Link } from 'wouter';
import type { AgentId, RunId, ScheduleId } from '../../../shared/domain/ids.ts';
import {
  type Occurrence,
  type Schedule,
  type Scheduled,
  SCRIPTS_OFF,
  WAITS_FOR_YES,
} from '../../../shared/protocol/schedules.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { retold, t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useActions, useInfo, useRoost } from '../context.tsx';
import { Words } from '../chat/markdown.tsx';
import { OlderButton } from '../inbox/inbox.tsx';
import { PageHead, QueryView } from '../parts/page-head.tsx';
import { useNow, useQuery } from '../hooks.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { MoreIcon, WarnIcon } from '../design/icons.tsx';
import { MenuButton, type MenuItem } from '../design/menu.tsx';
import { PATHS } from '../routes.ts';
import { type Teammate, useTeammates } from '../use-somebody.ts';
import { asBeginning, bytes } from '../text/sizes.ts';
import { clockTime } from '../text/time.ts';
import { Dialog } from '../design/dialog.tsx';
import { AgentSelect } from '../parts/choices.tsx';
import { StopSwitch } from '../wakes/stop-switch.tsx';
import { GoOn, useOpenedAt } from './activity-list.tsx';
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
  whatText,
} from './words.ts';
import ClockNote, { StoodNote } from './clock-note.tsx';
import { type Draft, EXAMPLES, readTiming } from './drafts.ts';
import { ScheduleTimeline } from './timeline.tsx';
import { useEditor } from './use-editor.tsx';
import { ZoneNote } from './editor-parts.tsx';
import './schedule.css';
import { useAction } from '../design/use-action.ts';

// The list of an agent's schedules, with the history of each.

/** The history of a schedule, newest first. */
function History({ scheduleId }: { scheduleId: ScheduleId }) {
  const query = schedulesOf(useRoost()).history(scheduleId);
  const now = useNow();
  return (
    <QueryView query={query}>
      {({ rows, more }) =>
        rows.length === 0 ? (
          <p className="query-quiet ink-3 text-3">{asBeginning(t`none`)}</p>
        ) : (
          <>
            <ol className="history above-5 scroll ruled stack gap-5" aria-label={t`History`}>
              {rows.map((one) => {
                const spent = spentText(one);
                return (
                  <li key={`${one.dueAt}`} data-tone={toneOf(one)}>
                    <p className="history-line gap-3 cluster figures ink-3 text-2">
                      <i className="tone-mark rounded fixed inline-block" aria-hidden="true" />
                      <time dateTime={new Date(one.dueAt).toISOString()}>{momentText(one.dueAt, now)}</time>
                      <b className="ink">{outcomeText(one)}</b>
                      {one.late && <span>{t`made up for late`}</span>}
                      {spent !== '' && <span>{spent}</span>}
                      <GoOn run={one} />
                    </p>
                    {one.detail !== null &&
                      (one.kind === 'script' || (toneOf(one) !== 'good' && toneOf(one) !== 'quiet')) && (
                        <p className="history-detail text-2 break ink-2 from-6">{retold(one.detail)}</p>
                      )}
                    {one.said !== null && one.said !== '' && (
                      <div className="history-said indented short above-2 scroll ink-2 text-3">
                        <Words text={one.said} />
                      </div>
                    )}
                  </li>
                );
              })}
            </ol>
            {more && <OlderButton paged={query} label={t`Show more`} />}
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
    <div>
      <h4 className="break text-4" dir="auto">
        {schedule.kind === 'routine' && schedule.color !== null && (
          <i className="routine-color inline-block" style={{ background: schedule.color }} aria-hidden="true" />
        )}
        <span>{schedule.name}</span>
      </h4>
      <p className="ink-2 text-2 break">
        {schedule.kind === 'script' && <span>{`${t`Script`} · `}</span>}
        <span>{timingText(schedule.timing, now)}</span>
        <span> · </span>
        <span>{next}</span>
      </p>
      {schedule.kind === 'reminder' && (
        <p dir="auto" className="clamp clip ink-2 text-2 break clamp-2">
          “{schedule.message}”
        </p>
      )}
      {schedule.kind === 'script' && (
        <p className="ink-2 text-2 break">
          <code>{schedule.script}</code>
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
  const { busy, act } = useAction();
  const { schedule, nextAt, running, elsewhere } = scheduled;
  const away = elsewhere !== null;
  /** It is locked until it is moved here, or until the person approves it. */
  const waits = away || scheduled.pausedWhy === WAITS_FOR_YES;
  const on = isOn(scheduled);
  const off = schedule.kind === 'script' && on && !scripts && !away;
  const warning = off ? t`Not run: ${retold(why ?? SCRIPTS_OFF)}` : warningText(scheduled);
  const items: MenuItem[] = [
    ...(waits
      ? []
      : [
          { label: t`Change`, run: () => onChange(scheduled) },
          { label: t`Duplicate`, run: () => act(() => schedules.duplicate(scheduled)) },
        ]),
    ...([-1, 1] as const).flatMap((way) => {
      const move = onMove[way];
      return move ? [{ label: way < 0 ? t`Move up` : t`Move down`, run: () => act(move) }] : [];
    }),
    { label: t`Delete`, run: () => act(() => schedules.remove(scheduled)) },
  ];
  const next = away
    ? t`Due at another relay`
    : running > 0
      ? t`at work`
      : !on
        ? t`off`
        : nextAt === null
          ? (waitsText(scheduled) ?? t`not due`)
          : t`next ${nextText(nextAt, now)}`;
  return (
    <li className="routine box panel pad-5" data-on={on}>
      <div className="routine-line gap-4 stack middle cols-auto-fill-auto">
        {schedule.kind === 'reminder' ? (
          <span className="rounded ink-2 text-1 framed pad-1-4">{t`Reminder`}</span>
        ) : (
          <button
            type="button"
            role="switch"
            aria-checked={on}
            aria-disabled={busy || waits}
            disabled={waits}
            aria-label={schedule.name}
            className="switch inline-flex touchable text-start no-pad plain-button middle gap-5 text-3 bold"
            onClick={() => act(() => schedules.toggle(scheduled))}
          >
            <span className="switch-knob relative framed-strong rounded fixed ground-3" aria-hidden="true" />
          </button>
        )}
        <RoutineWords schedule={schedule} next={next} now={now} />
        <div className="routine-ways line gap-4">
          {schedule.kind !== 'reminder' && (
            <button
              type="button"
              className="ghost"
              aria-label={t`${t`Run now`}: ${schedule.name}`}
              disabled={busy || waits}
              onClick={() => act(() => schedules.runNow(scheduled))}
            >{t`Run now`}</button>
          )}
          <button
            type="button"
            className="ghost"
            aria-expanded={open}
            aria-controls={historyId}
            aria-label={t`${t`History`}: ${schedule.name}`}
            onClick={() => setOpen(!open)}
          >{t`History`}</button>
          <MenuButton label={t`More for ${schedule.name}`} items={items}>
            <MoreIcon />
          </MenuButton>
        </div>
      </div>
      {warning !== null && (
        <p className="routine-warning at-top above-4 round-s pad warn-box text-2 flex gap-4 break warn">
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
    <section className="routine-group stack gap-4" aria-label={t`Routines of ${mate.name}`}>
      <h3 className="line gap-4">
        <span className="routine-face size-m fixed">
          <FaceOf agentId={mate.agentId} />
        </span>
        <Link
          href={PATHS.agent(mate.agentId)}
          style={{ '--c': mate.color }}
          className="underlined agent-name unlined named tint"
        >
          <span dir="auto">{mate.name}</span>
        </Link>
      </h3>
      <ul className="routines stack gap-4">
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

/** The agent snapshots at the relay, from which it can wake agents while no page is open. */
export function AgentSnapshots({ agentId }: { agentId: AgentId | null }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  const now = useNow();
  const [taking, setTaking] = useState<string | null>(null);
  const withdraw = (id: string, name: string) => {
    if (taking !== null) return;
    setTaking(id);
    void schedules.withdrawSnapshot(id, name).finally(() => setTaking(null));
  };
  return (
    <QueryView query={schedules.snapshots}>
      {({ snapshots }) => {
        const shown = snapshots.filter((snapshot) => agentId === null || snapshot.agentId === agentId);
        return (
          shown.length > 0 && (
            <section className="gap-5 stack narrow" aria-labelledby="agent-snapshots">
              <h2 id="agent-snapshots">{t`Copies on the relay`}</h2>
              <p className="measure ink-2 text-3 pretty">{t`To work while Roost is closed, the relay keeps an encrypted copy of the agent. Remove it and the agent stops working alone.`}</p>
              <ul className="ruled-between panel box" aria-labelledby="agent-snapshots">
                {shown.map((snapshot) => {
                  const mate = team.find(snapshot.agentId);
                  return (
                    <li className="middle wrap flex gap-4 pad-4-6" key={mate.agentId}>
                      <span className="routine-face size-m fixed">
                        <FaceOf agentId={mate.agentId} />
                      </span>
                      <div className="grow">
                        <Link
                          href={PATHS.agent(mate.agentId)}
                          className="underlined agent-name unlined named tint"
                          style={{ '--c': mate.color }}
                        >
                          <span dir="auto">{mate.name}</span>
                        </Link>
                        <p className="ink-2 text-2">
                          {t`Updated ${momentText(snapshot.leftAt, now)} · ${bytes(snapshot.bytes)}`}
                        </p>
                      </div>
                      <button
                        type="button"
                        className="ghost"
                        aria-label={t`${t`Remove`}: ${mate.name}`}
                        disabled={taking !== null}
                        onClick={() => withdraw(mate.agentId, mate.name)}
                      >
                        {taking === mate.agentId ? t`Working…` : t`Remove`}
                      </button>
                    </li>
                  );
                })}
              </ul>
            </section>
          )
        );
      }}
    </QueryView>
  );
}

/**
 * Schedules of another relay of the household: how they are moved here, and why that needs the
 * person.
 */
export function Elsewhere({ all }: { all: readonly Scheduled[] }) {
  const schedules = schedulesOf(useRoost());
  const actions = useActions();
  const copied = useInfo(({ health }) => health?.clock.copied ?? false);
  const [asking, setAsking] = useState(false);
  const { busy, act } = useAction();
  const away = all.filter(({ elsewhere }) => elsewhere !== null);
  if (away.length === 0) return null;
  const allAsked = away.every(({ elsewhere }) => elsewhere === 'asked');
  const move = (gone: boolean) =>
    act(async () => {
      await schedules.move(gone);
      // The relay's health says whether this is a copy that waits.
      await actions.refreshHealth();
      setAsking(false);
    });
  const askFor = (label: string, style: 'solid' | 'ghost') =>
    !allAsked && (
      <button type="button" className={style} disabled={busy} onClick={() => move(false)}>
        {label}
      </button>
    );
  const confirmGone = (label: string, style: 'solid' | 'ghost') => (
    <button type="button" className={style} disabled={busy} onClick={() => setAsking(true)}>
      {label}
    </button>
  );
  return (
    <div
      className="elsewhere warn-box pad-5 pretty gap-4 stack text-3 round"
      role="note"
      aria-label={t`Due at another relay`}
    >
      <p>
        {copied && <strong>{t`This relay’s folder is a copy of another relay’s.`}</strong>}{' '}
        <span>
          {allAsked
            ? t`Asked for. Open Roost at the other relay once, and then here again.`
            : t`What is due at another relay does not run here until you bring it here.`}
        </span>
      </p>
      <div className="routine-ways line gap-4">
        {copied ? confirmGone(t`Bring it here`, 'solid') : askFor(t`Bring it here`, 'solid')}
        {copied ? askFor(t`Ask the other relay`, 'ghost') : confirmGone(t`That relay is gone…`, 'ghost')}
      </div>
      {asking && (
        <Dialog title={t`Is the other relay stopped for good?`} onClose={() => setAsking(false)}>
          <p className="under-5">{t`What is due runs here at once. If the other relay still runs, it runs twice.`}</p>
          <div className="dialog-ways">
            <button type="button" className="ghost" onClick={() => setAsking(false)}>{t`Not now`}</button>
            <button type="button" className="solid" disabled={busy} onClick={() => move(true)}>
              {t`Bring it here`}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

/** All ids, with two of them swapped. */
const swapped = (all: readonly Scheduled[], one: string, other: string): readonly string[] =>
  all.map(({ scheduleId }) => (scheduleId === one ? other : scheduleId === other ? one : scheduleId));

/** `onExample` null: there is no agent yet who could have a routine. */
function Empty({ onExample }: { onExample: ((draft: Omit<Draft, 'agentId'>) => void) | null }) {
  const now = useNow();
  return (
    <div className="framed round-l gap-5 stack ink-2 pad-7">
      <p className="pretty measure">{t`A routine wakes an agent at the times that you set, also while no page is open. Nothing runs until you make one.`}</p>
      {onExample === null && <p className="pretty">{t`There is no agent yet. SUMMON first.`}</p>}
      <ul className="stack gap-4" aria-label={t`Examples`}>
        {EXAMPLES.map((draft) => {
          const timing = readTiming(draft, null);
          return (
            <li key={draft.name}>
              <button
                type="button"
                className="lifts touchable text-start panel-2 full box ink text-3 pad-4-6"
                disabled={onExample === null}
                onClick={() => onExample?.(draft)}
              >
                {t`${draft.name}: ${timing === null ? '' : timingText(timing, now)}`}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function LiveRun({ run, runId }: { run: Occurrence; runId: RunId }) {
  const schedules = schedulesOf(useRoost());
  const mate = useTeammates().find(run.agentId);
  const title = `${mate.name}, ${whatText(run)}`;
  const [stopping, setStopping] = useState(false);
  const stop = () => {
    if (stopping) return;
    setStopping(true);
    void schedules.stopRun(runId).finally(() => setStopping(false));
  };
  return (
    <li className="at-work gap-4 panel pad-5 stack middle round cols-auto-fill-auto">
      <span className="routine-face size-m fixed">
        <FaceOf agentId={mate.agentId} />
      </span>
      <p className="break">
        <Link
          href={PATHS.agent(mate.agentId)}
          className="underlined agent-name unlined named tint"
          style={{ '--c': mate.color }}
        >
          <span dir="auto">{mate.name}</span>
        </Link>{' '}
        <span dir="auto">{whatText(run)}</span>
        {run.startedAt !== null && <small>{t`since ${clockTime(run.startedAt)}`}</small>}
      </p>
      <div className="routine-ways line gap-4">
        <Link href={PATHS.agent(mate.agentId)} className="ghost" aria-label={t`${t`Watch`}: ${title}`}>{t`Watch`}</Link>
        <button type="button" className="ghost" aria-label={t`${t`Stop`}: ${title}`} disabled={stopping} onClick={stop}>
          {stopping ? t`Working…` : t`Stop`}
        </button>
      </div>
    </li>
  );
}

/** Active runs. Each can be watched and stopped. Renders nothing if there are none. */
function AtWork({ agentId }: { agentId: AgentId | null }) {
  const runs = useQuery(schedulesOf(useRoost()).runs);
  if (runs.kind !== 'ready') return null;
  const shown = runs.value.filter((run) => run.endedAt === null && (agentId === null || run.agentId === agentId));
  if (shown.length === 0) return null;
  return (
    <section className="gap-5 stack narrow" aria-labelledby="night-live">
      <h2 id="night-live">{t`Now`}</h2>
      <ul className="routines stack gap-4">
        {shown.flatMap((run) => (run.runId === null ? [] : [<LiveRun key={run.runId} run={run} runId={run.runId} />]))}
      </ul>
    </section>
  );
}

/** The schedules of agents, their history, and the switch that stops all of them. */
export default function SchedulePage({ agentId, onClose }: { agentId: AgentId | null; onClose: () => void }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  // Opening this view counts as opening the page.
  useOpenedAt();
  // The lead works in sessions only, so it has no snapshot at the relay.
  const living = team.all.filter(({ agentId: id, retired }) => !retired && id !== LEAD_ID);
  const chosenId = living.find(({ agentId: id }) => id === agentId)?.agentId ?? living[0]?.agentId ?? '';
  const { begin, beginScript, change, editor } = useEditor(chosenId, living);
  return (
    <div className="schedule page one-column gap-7 stack">
      <PageHead
        title={t`Schedule`}
        pageTitle={agentId === null ? t`Schedule` : t`${t`Schedule`}: ${team.find(agentId).name}`}
        onClose={onClose}
      >
        <button
          type="button"
          className="ghost ghost-dawn"
          disabled={chosenId === ''}
          onClick={() => begin(null)}
        >{t`A new routine`}</button>
      </PageHead>
      <p className="schedule-about ink-2">{t`The lead works in sessions only, and has no routines.`}</p>
      <ClockNote />
      <StopSwitch />
      <StoodNote />
      <ZoneNote />
      <AtWork agentId={agentId} />
      <section className="gap-5 stack narrow" aria-labelledby="schedule-routines">
        <div className="gap-5 cluster apart">
          <h2 id="schedule-routines">{t`Routines`}</h2>
          <AgentSelect label={t`Agent`} everybody={t`Everybody`} agentId={agentId} path={PATHS.schedule} />
        </div>
        <QueryView query={schedules.list}>
          {({ schedules: all, scripts, why }) => {
            const shown = all.filter(({ schedule }) => agentId === null || schedule.agentId === agentId);
            const checks = (
              <p className="schedule-checks gap-4 cluster ink-3 text-2">
                <button
                  type="button"
                  className="ghost"
                  disabled={chosenId === ''}
                  onClick={() => beginScript(scripts, why)}
                >{t`A new script`}</button>
                <span>{t`A check that runs without a model, and wakes an agent only where it fails.`}</span>
              </p>
            );
            if (shown.length === 0)
              return (
                <>
                  <Empty onExample={chosenId === '' ? null : begin} />
                  {checks}
                </>
              );
            const groups = team
              .among([...new Set(shown.map(({ schedule }) => schedule.agentId))])
              .map((mate) => (
                <AgentGroup
                  key={mate.agentId}
                  mate={mate}
                  scheduled={shown.filter(({ schedule }) => schedule.agentId === mate.agentId)}
                  scripts={scripts}
                  why={why}
                  onChange={change}
                  onSwap={(one, other) => schedules.order(swapped(all, one, other))}
                />
              ));
            return (
              <>
                <Elsewhere all={shown} />
                {groups}
                {checks}
              </>
            );
          }}
        </QueryView>
      </section>
      <ScheduleTimeline agentId={agentId} />
      <AgentSnapshots agentId={agentId} />
      {editor}
    </div>
  );
}
