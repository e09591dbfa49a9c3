import { useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { spoken } from '../../language/catalogue.ts';
import { t } from '../../language/t.ts';
import type { Timeline } from '../../../shared/protocol/endpoints/schedules.ts';
import type { Scheduled } from '../../../shared/protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { OneOf } from '../parts/one-of.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { clockTime } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { useQuery } from '../use-query.ts';
import { useTeammates, type Teammate } from '../use-teammates.ts';
import { SpreadDialog } from './spread-dialog.tsx';
import { linesOf, marksOf, placeIn, ticksOf, type Mark } from './marks.ts';
import { clashText, momentText, mostText, nextText, outcomeText, pastLeftOutText } from './words.ts';

const HOURS = [12, 24, 72, 168] as const;
const HOURS_TEXT: Record<(typeof HOURS)[number], string> = {
  12: t`${12} h`,
  24: t`${24} h`,
  72: t`${3} days`,
  168: t`${7} days`,
};
const day = new Intl.DateTimeFormat(spoken.locale, { weekday: 'short', day: 'numeric' });
const percent = (part: number) => `${(part * 100).toFixed(3)}%`;

/** Each kind of mark in a lane, and what it stands for. */
const KEY = Object.entries({
  good: 'done',
  bad: 'failed',
  skipped: t`skipped, stopped or missed`,
  quiet: t`nothing waited`,
  open: t`at work now`,
  'to-come': t`to come`,
  dark: t`passed over in quiet hours`,
} satisfies Record<Mark['kind'], string>);

/** Part of the span behind which a time is written to the left of its tick, for want of room. */
const LAST = 0.97;

interface Shown {
  readonly timeline: Timeline;
  readonly scheduled: readonly Scheduled[];
  readonly mates: readonly Teammate[];
  readonly now: number;
}

/** The drawing. What it shows stands in the table below it too, so that nobody has to see it. */
function Drawing({ timeline, scheduled, mates, now }: Shown) {
  const colors = new Map(
    scheduled.flatMap(({ scheduleId, schedule }) =>
      schedule.kind === 'routine' && schedule.color !== null ? [[scheduleId, schedule.color] as const] : [],
    ),
  );
  const ticks = ticksOf(timeline);
  const days = timeline.to - timeline.from > 48 * 3_600_000;
  return (
    <div className="lanes" aria-hidden="true">
      <div className="lane-track lane-hours">
        {ticks.map(({ at, time, named }) => (
          <i key={time} style={{ insetInlineStart: percent(at) }} data-named={named} data-last={at > LAST}>
            {named && <small>{days ? day.format(time) : clockTime(time)}</small>}
          </i>
        ))}
      </div>
      {mates.map((mate) => (
        <div key={mate.agentId} className="lane tint" style={{ '--c': mate.color }}>
          <span className="lane-name">{mate.name}</span>
          <div className="lane-track">
            {ticks.map(({ at, time, named }) => (
              <i key={time} className="lane-tick" style={{ insetInlineStart: percent(at) }} data-named={named} />
            ))}
            {timeline.blackouts
              .filter(({ agentId }) => agentId === mate.agentId)
              .map(({ from, to, label }) => (
                <span
                  key={from}
                  className="lane-dark"
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
                  className="lane-clash"
                  data-critical={critical}
                  style={{ insetInlineStart: percent(placeIn(timeline, from)) }}
                />
              ))}
            {marksOf(timeline, mate.agentId, colors).map(({ at, kind, color }) => (
              <b
                key={at}
                data-kind={kind}
                style={{ insetInlineStart: percent(at), ...(color === null ? {} : { '--c': color }) }}
              />
            ))}
            <span className="lane-now" style={{ insetInlineStart: percent(placeIn(timeline, now)) }} />
          </div>
        </div>
      ))}
      <p className="lane-key">
        {KEY.map(([kind, said]) => (
          <span key={kind}>
            <b data-kind={kind} /> {said}
          </span>
        ))}
        <span>
          <span className="lane-dark" /> {t`quiet hours`}
        </span>
        <span>
          <span className="lane-clash" data-critical="false" /> {t`two or three agents at once`}
        </span>
        <span>
          <span className="lane-clash" data-critical="true" /> {t`four or more at once`}
        </span>
        <span>
          <span className="lane-now" /> {t`now`}
        </span>
      </p>
    </div>
  );
}

function Facts({ timeline, scheduled, mates, now }: Shown) {
  const known = new Map(scheduled.map(({ scheduleId, schedule }) => [scheduleId, schedule.name]));
  const lines = linesOf(timeline, known, outcomeText);
  return (
    // Scrolls by itself where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="night-sheet" role="region" aria-label={t`The same in words`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t`Who and what`}</th>
            <th scope="col">{t`Before now`}</th>
            <th scope="col">{t`To come`}</th>
          </tr>
        </thead>
        <tbody>
          {mates.flatMap((mate) =>
            lines
              .filter(({ agentId }) => agentId === mate.agentId)
              .map((line) => (
                <tr key={line.scheduleId}>
                  <th scope="row">
                    <span className="tint sheet-name" style={{ '--c': mate.color }} dir="auto">
                      {mate.name}
                    </span>{' '}
                    <span dir="auto">{line.name}</span>
                  </th>
                  <td data-label="Before now">
                    {line.past.length === 0
                      ? '–'
                      : line.past.map(({ text, tone, count }) => (
                          <span key={text} className="sheet-outcome" data-tone={tone}>
                            <i className="tone-mark" aria-hidden="true" />
                            <span>{count > 1 ? `${count} × ${text}` : text}</span>
                          </span>
                        ))}
                  </td>
                  <td data-label="To come">
                    {line.toCome === 0
                      ? '–'
                      : [
                          `${line.toCome} ×`,
                          line.next === null ? null : t`next ${nextText(line.next, now)}`,
                          line.dark === 0 ? null : t`${line.dark} in quiet hours, which pass by`,
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

/** What was due, and what will be: a lane for each agent, and the same in words. */
export function NightTimeline({ agentId }: { agentId: AgentId | null }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  const now = useNow();
  const [hours, setHours] = useState<(typeof HOURS)[number]>(24);
  const [spreading, setSpreading] = useState(false);
  const list = useQuery(schedules.list);
  const scheduled = list.kind === 'ready' ? list.value.schedules : [];
  return (
    <section className="night-block" aria-labelledby="night-timeline">
      <div className="night-bar">
        <h2 id="night-timeline">{t`The hours around now`}</h2>
        <OneOf
          label={t`How far either way`}
          options={HOURS.map((value) => ({ value, text: HOURS_TEXT[value] }))}
          value={hours}
          onChange={setHours}
        />
      </div>
      <QueryView query={schedules.timeline(hours)} what={t`The timeline`}>
        {(timeline) => {
          const whose = [...timeline.moments, ...timeline.occurrences].map((one) => one.agentId);
          const mates = team.among([...new Set(whose)]).filter((mate) => agentId === null || mate.agentId === agentId);
          const clashes = timeline.clashes.filter(({ agentIds }) => agentId === null || agentIds.includes(agentId));
          const dark = timeline.blackouts.filter((one) => mates.some((mate) => mate.agentId === one.agentId));
          return (
            <>
              <p className="night-most">{mostText(timeline.most, hours)}</p>
              {timeline.leftOut && (
                <p className="night-most">
                  {[
                    ...(timeline.leftOut.moments
                      ? [
                          t`More may be due in these hours: of what is due very often, only the first moments are drawn and counted.`,
                        ]
                      : []),
                    ...(timeline.leftOut.occurrences ? [pastLeftOutText(timeline)] : []),
                  ].join(' ')}
                </p>
              )}
              {mates.length === 0 ? (
                <p className="query-quiet">{t`Nothing was due in these hours, and nothing will be.`}</p>
              ) : (
                <>
                  <Drawing timeline={timeline} scheduled={scheduled} mates={mates} now={now} />
                  <Facts timeline={timeline} scheduled={scheduled} mates={mates} now={now} />
                </>
              )}
              {clashes.length > 0 && (
                <div className="night-clashes">
                  <h3>{t`Several at once`}</h3>
                  <ul>
                    {clashes.slice(0, SHOWN).map((clash) => (
                      <li key={clash.from} data-critical={clash.critical}>
                        {clashText(clash, (id) => team.find(id).name, now)}
                      </li>
                    ))}
                    {clashes.length > SHOWN && <li>{t`And ${clashes.length - SHOWN} more times.`}</li>}
                  </ul>
                  <button
                    type="button"
                    className="ghost"
                    onClick={() => setSpreading(true)}
                  >{t`Draw them apart…`}</button>
                </div>
              )}
              {dark.length > 0 && (
                <details className="night-darks">
                  <summary>{t`Quiet hours`}</summary>
                  <ul>
                    {dark.slice(0, SHOWN).map(({ agentId: whom, from, to, label }) => (
                      <li key={`${whom} ${from}`}>
                        <span>{t`${team.find(whom).name}: ${momentText(from, now)} to ${momentText(to, now)}`}</span>
                        {label === '' || <span>{`, ${t`“${label}”`}`}</span>}
                      </li>
                    ))}
                    {dark.length > SHOWN && <li>{t`And ${dark.length - SHOWN} more.`}</li>}
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

/** Lines of a list that stand at once. */
const SHOWN = 8;
