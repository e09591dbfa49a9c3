/**
 * A message that an agent wants to come back to again and again, as the person is asked about it.
 */
import { slotsBetween, type Timing } from '../../../shared/domain/schedule/timing.ts';
import { t } from '../../language/t.ts';
import type { ToolCall } from '../../../shared/protocol/calls.ts';
import { createCronClock } from '../../../shared/protocol/cron.ts';
import { saidTiming } from '../../../shared/protocol/said-timing.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { momentText, nextText, timingText } from '../night/words.ts';
import { Diff } from '../parts/diff.tsx';
import { revealed, revealedLine } from '../text/unseen.ts';
import { useNow } from '../use-now.ts';
import { useQuery } from '../use-query.ts';
import { inputOf, textIn } from './words.ts';

const CRON = createCronClock();
/** Moments to come that are named. */
const NEXT_SHOWN = 3;

const GIVEN: Readonly<Record<string, string>> = {
  last_session: t`It is given its last conversation as well.`,
  own_runs: t`It is given the last words of its last three runs as well.`,
};

/** When it comes next, were the answer yes now. */
function nextSentence(timing: Timing, zone: string, now: number): string {
  const [first, ...rest] = slotsBetween(timing, now, Infinity, { cron: CRON, zone, offset: 0 }, NEXT_SHOWN);
  if (first === undefined) return t`That time is over already.`;
  // Its place in the interval is given by the relay.
  if (timing.kind === 'every') return t`Due within ${timing.minutes} minutes, and then every ${timing.minutes}.`;
  return t`Due next: ${[nextText(first, now), ...rest.map((at) => momentText(at, now))].join(', then ')}.`;
}

export default function WantedReminder({ call }: { call: ToolCall }) {
  const roost = useRoost();
  const now = useNow(15_000);
  const limits = useQuery(roost.limits.query);
  const scheduled = useQuery(schedulesOf(roost).list);
  const input = inputOf(call);
  const of = (name: string) => textIn(input, name) ?? undefined;
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  const [name, message] = [of('name'), of('message')];
  // By the moment at which it was asked: one that is over by now is shown as it is.
  const said = { cron: of('cron'), every: of('every'), at: of('at') };
  const read = zone === null ? null : saidTiming(said, zone, Math.min(now, call.askedAt));
  // What cannot be read is shown as it stands.
  if (zone === null || !read?.ok || name === undefined || message === undefined)
    return (
      <pre className="excerpt" dir="auto">
        {revealed(JSON.stringify(input, null, 2))}
      </pre>
    );
  const { timing } = read;
  const all = scheduled.kind === 'ready' ? scheduled.value.schedules : [];
  const before = all.find(({ schedule }) => schedule.agentId === call.agentId && schedule.name === name)?.schedule;
  const notes = [
    t`As “${revealedLine(name)}”, ${timingText(timing, now)}.`,
    nextSentence(timing, zone, now),
    GIVEN[of('context') ?? ''] ?? null,
    t`Each time its model is asked. You can change it or take it away under Night.`,
  ];
  return (
    <>
      <pre className="excerpt" dir="auto">
        {revealed(message)}
      </pre>
      <p className="call-note">{notes.filter((note) => note !== null).join(' ')}</p>
      {before?.kind === 'reminder' && (
        <>
          <p className="call-note">{t`It takes the place of the one of this name, ${timingText(before.timing, now)}:`}</p>
          <Diff before={before.message} after={message} />
        </>
      )}
    </>
  );
}
