/**
 * The timeline of past and future occurrences, and the dialog that spreads clashing routines apart.
 */
import { useState } from 'react';
import type { AgentId, ScheduleId } from '../../../shared/domain/ids.ts';
import type { Timeline } from '../../../shared/protocol/endpoints/schedules.ts';
import { type Shift, spreadClashes } from '../../../shared/domain/schedule/timeline.ts';
import type { Timing } from '../../../shared/domain/schedule/timing.ts';
import { createCronClock } from '../../../shared/protocol/timing-arguments.ts';
import type { Scheduled } from '../../../shared/protocol/schedules.ts';
import { spoken, t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { asBeginning } from '../text/sizes.ts';
import { useNow, useQuery } from '../hooks.ts';
import { type Teammate, useTeammates } from '../use-somebody.ts';
import { OneOf } from '../design/one-of.tsx';
import { clockTime } from '../text/time.ts';
import {
  clashText,
  isOn,
  LEFT_OUT,
  momentText,
  mostText,
  nextText,
  outcomeText,
  timingText,
  type Tone,
  toneOf,
} from './words.ts';
import { useAction } from '../design/use-action.ts';

// Geometry of the timeline: marks that do not overlap, and ticks at the hours. Pure.

/** Slots of a lane. Occurrences in the same slot are one mark. */
const PLACES = 160;
const HOUR = 3_600_000;

interface Mark {
  /** Position in the span, 0 to 1. */
  readonly at: number;
  /** `dark`: a future occurrence that quiet hours will skip. */
  readonly kind: Tone | 'to-come' | 'dark';
  /** The routine's own colour, for future occurrences; null: its agent's. */
  readonly color: string | null;
}

/** Precedence where several share a slot: the most serious first. */
const ORDER: readonly Mark['kind'][] = ['bad', 'open', 'skipped', 'good', 'to-come', 'dark', 'quiet'];

const placeIn = ({ from, to }: Pick<Timeline, 'from' | 'to'>, time: number): number =>
  Math.min(1, Math.max(0, (time - from) / (to - from)));

/** `colors`: of routines with a colour of their own, by id. */
export function marksOf(timeline: Timeline, agentId: AgentId, colors: ReadonlyMap<string, string>): readonly Mark[] {
  const marks = new Map<number, Omit<Mark, 'at'>>();
  const put = (time: number, kind: Mark['kind'], color: string | null = null) => {
    const place = Math.round(placeIn(timeline, time) * PLACES);
    const held = marks.get(place);
    if (held === undefined || ORDER.indexOf(kind) < ORDER.indexOf(held.kind)) marks.set(place, { kind, color });
  };
  for (const one of timeline.occurrences) if (one.agentId === agentId) put(one.dueAt, toneOf(one));
  for (const { scheduleId, agentId: whose, at, dark } of timeline.moments)
    if (whose === agentId) put(at, dark === null ? 'to-come' : 'dark', colors.get(scheduleId));
  return [...marks].sort(([a], [b]) => a - b).map(([place, mark]) => ({ at: place / PLACES, ...mark }));
}

interface Tick {
  readonly at: number;
  readonly time: number;
  /** There is room for its time beside it. */
  readonly named: boolean;
}

/** Every full hour in the reader's time zone; every sixth in longer spans. */
export function ticksOf(timeline: Pick<Timeline, 'from' | 'to'>): readonly Tick[] {
  const hours = (timeline.to - timeline.from) / HOUR;
  const step = hours <= 48 ? 1 : 6;
  const named = hours <= 24 ? 3 : hours <= 48 ? 6 : hours <= 144 ? 24 : 48;
  const ticks: Tick[] = [];
  const first = new Date(timeline.from);
  first.setMinutes(0, 0, 0);
  let days = 0;
  for (let time = first.getTime(); time <= timeline.to; time += HOUR) {
    const hour = new Date(time).getHours();
    if (hour === 0) days += 1;
    if (time < timeline.from || hour % step !== 0) continue;
    const isNamed = named <= 24 ? hour % named === 0 : hour === 0 && days % 2 === 0;
    ticks.push({ at: placeIn(timeline, time), time, named: isNamed });
  }
  return ticks;
}

/** A row of the table: one routine in figures. */
interface Line {
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly name: string;
  /** Count of each outcome, most frequent first. */
  readonly past: readonly { readonly text: string; readonly tone: Tone; readonly count: number }[];
  readonly toCome: number;
  /** Future occurrences that fall in quiet hours. */
  readonly dark: number;
  /** The next one that runs; null: none. */
  readonly next: number | null;
}

/** `names`: of schedules, by id. A removed schedule is known from its past occurrences only. */
function linesOf(
  timeline: Timeline,
  names: ReadonlyMap<string, string>,
  say: (one: Timeline['occurrences'][number]) => string,
): readonly Line[] {
  const lines = new Map<string, { line: Omit<Line, 'past'>; past: Map<string, { tone: Tone; count: number }> }>();
  const of = (scheduleId: ScheduleId, agentId: AgentId, name: string) => {
    const line = lines.get(scheduleId) ?? {
      line: { scheduleId, agentId, name, toCome: 0, dark: 0, next: null },
      past: new Map<string, { tone: Tone; count: number }>(),
    };
    lines.set(scheduleId, line);
    return line;
  };
  for (const { scheduleId, agentId, at, dark } of timeline.moments) {
    const line = of(scheduleId, agentId, names.get(scheduleId) ?? '…');
    line.line = {
      ...line.line,
      toCome: line.line.toCome + 1,
      dark: line.line.dark + (dark === null ? 0 : 1),
      next: line.line.next ?? (dark === null ? at : null),
    };
  }
  for (const one of timeline.occurrences) {
    const { past } = of(one.scheduleId, one.agentId, one.kind === 'wake' ? t`woken by others` : one.name);
    const text = say(one);
    past.set(text, { tone: toneOf(one), count: (past.get(text)?.count ?? 0) + 1 });
  }
  return [...lines.values()].map(({ line, past }) => ({
    ...line,
    past: [...past].map(([text, more]) => ({ text, ...more })).sort((a, b) => b.count - a.count),
  }));
}

// Proposes how to spread clashing routines apart, in words. Pure.

/** Hours ahead that are checked for clashes. A week covers everything that repeats weekly. */
const SPREAD_HOURS = 168;
const CRON = createCronClock();

interface Move extends Shift {
  readonly scheduled: Scheduled;
}

/**
 * The schedules that have to move, in the order of the page; `timeline` covers `SPREAD_HOURS`.
 * Schedules that are off or fall in quiet hours cause no clash.
 */
function movesFor(scheduled: readonly Scheduled[], timeline: Timeline, zone: string, now: number): readonly Move[] {
  const on = scheduled.filter(isOn);
  const shifts = spreadClashes(
    on.map(({ scheduleId, schedule, offset }) => ({
      id: scheduleId,
      agentId: schedule.agentId,
      timing: schedule.timing,
      offset: offset ?? 0,
    })),
    now,
    timeline.to,
    {
      cron: CRON,
      zone,
      isDark: (agentId, at) =>
        timeline.blackouts.some((dark) => dark.agentId === agentId && at >= dark.from && at < dark.to),
    },
  );
  return shifts.flatMap((shift) => {
    const found = on.find(({ scheduleId }) => scheduleId === shift.id);
    return found ? [{ ...shift, scheduled: found }] : [];
  });
}

/** `every hour, 3 minutes later`, `every day at 07:33 instead of 07:30` */
export function moveText({ before, after, minutes }: Shift, now: number): string {
  const said = (timing: Timing) => timingText(timing, now);
  return said(before) === said(after)
    ? t`${said(before)}, ${minutes} minutes later`
    : t`${said(after)}, not ${said(before)}`;
}

interface Props {
  readonly scheduled: readonly Scheduled[];
  readonly now: number;
  readonly onClose: () => void;
}

/** The proposed moves: shown first, then applied. One press reverts them. */
function SpreadDialog({ scheduled, now, onClose }: Props) {
  const state = useRoost();
  const schedules = schedulesOf(state);
  const limits = useQuery(state.limits.query);
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  return (
    <Dialog title={t`Draw them apart`} onClose={onClose}>
      <QueryView query={schedules.timeline(SPREAD_HOURS)}>
        {(timeline) =>
          zone === null ? (
            <p className="query-quiet ink-3 text-3">{t`Loading…`}</p>
          ) : (
            <Moves {...{ scheduled, timeline, zone, now, onClose }} />
          )
        }
      </QueryView>
    </Dialog>
  );
}

function Moves({ scheduled, timeline, zone, now, onClose }: Props & { timeline: Timeline; zone: string }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  const [moves] = useState(() => movesFor(scheduled, timeline, zone, now));
  const { busy, act } = useAction();
  const move = () =>
    act(async () => {
      const timings = moves.map(({ scheduled: { scheduleId }, before, after }) => ({ scheduleId, before, after }));
      if (await schedules.setTimings(timings)) onClose();
    });
  return (
    <div className="gap-5 stack">
      {moves.length === 0 ? (
        <p>{t`None of them can be moved.`}</p>
      ) : (
        <>
          <p>{t`The later ones move by a few minutes:`}</p>
          <ul className="stack gap-4" aria-label={t`Draw them apart`}>
            {moves.map((one) => {
              const { agentId, name } = one.scheduled.schedule;
              const mate = team.find(agentId);
              return (
                <li key={one.id} className="tint ink-2 text-3" style={{ '--c': mate.color }}>
                  <span className="agent-name named" dir="auto">
                    {mate.name}
                  </span>{' '}
                  <strong dir="auto">{name}</strong>
                  <br />
                  {moveText(one, now)}
                </li>
              );
            })}
          </ul>
        </>
      )}
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onClose}>
          {moves.length === 0 ? t`Close` : t`Cancel`}
        </button>
        {moves.length > 0 && (
          <button type="button" className="solid" disabled={busy} onClick={() => void move()}>
            {busy ? t`Working…` : t`Draw them apart`}
          </button>
        )}
      </div>
    </div>
  );
}

const HOURS = [12, 24, 72, 168] as const;
const HOURS_TEXT: Record<(typeof HOURS)[number], string> = {
  12: t`${12} h`,
  24: t`${24} h`,
  72: t`${3} days`,
  168: t`${7} days`,
};
const day = new Intl.DateTimeFormat(spoken.locale, { weekday: 'short', day: 'numeric' });
const percent = (part: number) => `${(part * 100).toFixed(3)}%`;

const DARK = t`skipped: ${t`quiet hours`}`;
/** Each kind of mark, and its meaning. The legend has those that occur. */
const KEY: readonly (readonly [Mark['kind'], string])[] = [
  ['good', t`done`],
  ['bad', t`failed`],
  ['skipped', t`skipped, stopped or missed`],
  ['quiet', t`nothing waited for it`],
  ['open', t`at work`],
  ['to-come', t`To come`],
  ['dark', DARK],
];

/** Position after which a time stands to the left of its tick, for lack of room. */
const LAST = 0.97;

interface Shown {
  readonly timeline: Timeline;
  readonly scheduled: readonly Scheduled[];
  readonly mates: readonly Teammate[];
  readonly now: number;
}

/** The drawing. The table below has the same content for people who cannot see it. */
function Drawing({ timeline, scheduled, mates, now }: Shown) {
  const colors = new Map(
    scheduled.flatMap(({ scheduleId, schedule }) =>
      schedule.kind === 'routine' && schedule.color !== null ? [[scheduleId, schedule.color] as const] : [],
    ),
  );
  const ticks = ticksOf(timeline);
  const days = timeline.to - timeline.from > 48 * 3_600_000;
  const marks = new Map(mates.map(({ agentId }) => [agentId, marksOf(timeline, agentId, colors)]));
  const kinds = new Set([...marks.values()].flatMap((each) => each.map(({ kind }) => kind)));
  return (
    <div className="lanes panel gap-3 box stack text-1" aria-hidden="true">
      <div className="lane-track relative round-s lane-hours ink-3">
        {ticks.map(({ at, time, named }) => (
          <i
            className="absolute"
            key={time}
            style={{ insetInlineStart: percent(at) }}
            data-named={named}
            data-last={at > LAST}
          >
            {named && (
              <small className="nowrap figures text-1 absolute">{days ? day.format(time) : clockTime(time)}</small>
            )}
          </i>
        ))}
      </div>
      {mates.map((mate) => (
        <div key={mate.agentId} className="lane stack middle tint" style={{ '--c': mate.color }}>
          <span className="lane-name agent-name truncate named">{mate.name}</span>
          <div className="lane-track relative round-s">
            {ticks.map(({ at, time, named }) => (
              <i
                key={time}
                className="lane-tick absolute"
                style={{ insetInlineStart: percent(at) }}
                data-named={named}
              />
            ))}
            {timeline.blackouts
              .filter(({ agentId }) => agentId === mate.agentId)
              .map(({ from, to, label }) => (
                <span
                  key={from}
                  className="lane-dark absolute"
                  title={label}
                  style={{
                    insetInlineStart: percent(placeIn(timeline, from)),
                    width: percent(placeIn(timeline, to) - placeIn(timeline, from)),
                  }}
                />
              ))}
            {timeline.clashes
              .filter(({ agentIds }) => agentIds.includes(mate.agentId))
              .map(({ from, critical }) => (
                <span
                  key={from}
                  className="lane-clash absolute"
                  data-critical={critical}
                  style={{ insetInlineStart: percent(placeIn(timeline, from)) }}
                />
              ))}
            {marks.get(mate.agentId)?.map(({ at, kind, color }) => (
              <b
                className="rounded absolute"
                key={at}
                data-kind={kind}
                style={{ insetInlineStart: percent(at), ...(color === null ? {} : { '--c': color }) }}
              />
            ))}
            <span className="lane-now absolute" style={{ insetInlineStart: percent(placeIn(timeline, now)) }} />
          </div>
        </div>
      ))}
      <p className="lane-key gap-5 above-3 flex wrap ink-3">
        {KEY.filter(([kind]) => kinds.has(kind)).map(([kind, said]) => (
          <span className="middle gap-3 inline-flex" key={kind}>
            <b className="rounded" data-kind={kind} /> {said}
          </span>
        ))}
        {timeline.blackouts.length > 0 && (
          <span className="middle gap-3 inline-flex">
            <span className="lane-dark absolute" /> {t`quiet hours`}
          </span>
        )}
        {timeline.clashes.length > 0 && (
          <span className="middle gap-3 inline-flex">
            <span className="lane-clash above-3 absolute" data-critical="false" />
            <span className="lane-clash above-3 absolute" data-critical="true" /> {t`several at once`}
          </span>
        )}
        <span className="middle gap-3 inline-flex">
          <span className="lane-now absolute" /> {t`Now`}
        </span>
      </p>
    </div>
  );
}

function Facts({ timeline, scheduled, mates, now }: Shown) {
  const names = new Map(scheduled.map(({ scheduleId, schedule }) => [scheduleId, schedule.name]));
  const lines = linesOf(timeline, names, outcomeText);
  return (
    // Scrollable where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="schedule-sheet panel scroll box" role="region" aria-label={t`Runs`} tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            <th className="align-top break" scope="col">{t`Agent`}</th>
            <th className="align-top break" scope="col">{t`Before now`}</th>
            <th className="align-top break" scope="col">{t`To come`}</th>
          </tr>
        </thead>
        <tbody>
          {mates.flatMap((mate) =>
            lines
              .filter(({ agentId }) => agentId === mate.agentId)
              .map((line) => (
                <tr key={line.scheduleId}>
                  <th className="align-top break" scope="row">
                    <span className="tint agent-name named" style={{ '--c': mate.color }} dir="auto">
                      {mate.name}
                    </span>{' '}
                    <span dir="auto">{line.name}</span>
                  </th>
                  <td className="align-top break" data-label={t`Before now`}>
                    {line.past.length === 0
                      ? '–'
                      : line.past.map(({ text, tone, count }) => (
                          <span key={text} className="flex baseline gap-4" data-tone={tone}>
                            <i className="tone-mark rounded fixed inline-block" aria-hidden="true" />
                            <span>{count > 1 ? `${count} × ${text}` : text}</span>
                          </span>
                        ))}
                  </td>
                  <td className="align-top break" data-label={t`To come`}>
                    {line.toCome === 0
                      ? '–'
                      : [
                          `${line.toCome} ×`,
                          line.next === null ? null : t`next ${nextText(line.next, now)}`,
                          line.dark === 0 ? null : `${line.dark} × ${DARK}`,
                        ]
                          .filter((part) => part !== null)
                          .join(', ')}
                  </td>
                </tr>
              )),
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Past and future occurrences: a lane per agent, and the same in words. */
export function ScheduleTimeline({ agentId }: { agentId: AgentId | null }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  const now = useNow();
  const [hours, setHours] = useState<(typeof HOURS)[number]>(24);
  const [spreading, setSpreading] = useState(false);
  const list = useQuery(schedules.list);
  const scheduled = list.kind === 'ready' ? list.value.schedules : [];
  return (
    <section className="gap-5 stack narrow" aria-labelledby="schedule-timeline">
      <div className="gap-5 cluster apart">
        <h2 id="schedule-timeline">{t`Timeline`}</h2>
        <OneOf
          label={t`Timeline`}
          options={HOURS.map((value) => ({ value, text: HOURS_TEXT[value] }))}
          value={hours}
          onChange={setHours}
        />
      </div>
      <QueryView query={schedules.timeline(hours)}>
        {(timeline) => {
          const whose = [...timeline.moments, ...timeline.occurrences].map((one) => one.agentId);
          const mates = team.among([...new Set(whose)]).filter((mate) => agentId === null || mate.agentId === agentId);
          const clashes = timeline.clashes.filter(({ agentIds }) => agentId === null || agentIds.includes(agentId));
          const dark = timeline.blackouts.filter((one) => mates.some((mate) => mate.agentId === one.agentId));
          return (
            <>
              <p className="measure ink-2 text-3 pretty">{mostText(timeline.most, hours)}</p>
              {timeline.leftOut && <p className="measure ink-2 text-3 pretty">{LEFT_OUT}</p>}
              {mates.length === 0 ? (
                timeline.most.runs > 0 && (
                  <p className="query-quiet ink-3 text-3">{mostText({ ...timeline.most, runs: 0 }, hours)}</p>
                )
              ) : (
                <>
                  <Drawing timeline={timeline} scheduled={scheduled} mates={mates} now={now} />
                  <Facts timeline={timeline} scheduled={scheduled} mates={mates} now={now} />
                </>
              )}
              {clashes.length > 0 && (
                <div>
                  <h3 className="text-3">{asBeginning(t`several at once`)}</h3>
                  <ul>
                    {clashes.slice(0, SHOWN).map((clash) => (
                      <li
                        className={`text-2 ${clash.critical ? 'warn' : 'ink-2'}`}
                        key={clash.from}
                        data-critical={clash.critical}
                      >
                        {clashText(clash, (id) => team.find(id).name, now)}
                      </li>
                    ))}
                    {clashes.length > SHOWN && <li>{t`and ${clashes.length - SHOWN} more`}</li>}
                  </ul>
                  <button
                    type="button"
                    className="ghost"
                    onClick={() => setSpreading(true)}
                  >{t`Draw them apart`}</button>
                </div>
              )}
              {dark.length > 0 && (
                <details>
                  <summary className="ink-2 text-2">{t`Quiet hours`}</summary>
                  <ul>
                    {dark.slice(0, SHOWN).map(({ agentId: whom, from, to, label }) => (
                      <li className="ink-2 text-2" key={`${whom} ${from}`}>
                        <span>{t`${team.find(whom).name}: ${`${momentText(from, now)} – ${momentText(to, now)}`}`}</span>
                        {label === '' || <span>{`, ${t`“${label}”`}`}</span>}
                      </li>
                    ))}
                    {dark.length > SHOWN && <li>{t`and ${dark.length - SHOWN} more`}</li>}
                  </ul>
                </details>
              )}
            </>
          );
        }}
      </QueryView>
      {spreading && <SpreadDialog scheduled={scheduled} now={now} onClose={() => setSpreading(false)} />}
    </section>
  );
}

/** Rows of a list that are shown at first. */
const SHOWN = 8;
