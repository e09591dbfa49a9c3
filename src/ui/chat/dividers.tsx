import type { LogItem } from '../../state/conversation-log.ts';
import type { RunSpan } from '../../state/run-spans.ts';
import { endText } from '../text/reasons.ts';
import { causeText, outcomeText } from '../text/runs.ts';
import { clockTime, dayName, dayWithin, duration } from '../text/time.ts';
import { useNames } from '../use-names.ts';

export function DayDivider({ time, now }: { time: number; now: number }) {
  return (
    <p className="divider">
      {dayName(time, now)} {clockTime(time)}
    </p>
  );
}

/** Where new begins, when a conversation is opened. */
export function NewDivider() {
  return (
    <p className="divider divider-new" role="separator" aria-label="New messages">
      New
    </p>
  );
}

/** `Thursday 23:41 · Lyra slept 9 hours`, or the sleep that still lasts. */
export function SleepDivider({
  item,
  name,
  now,
}: {
  item: Extract<LogItem, { kind: 'sleep' }>;
  name: string;
  now: number;
}) {
  const why = item.reason && (item.until === null || item.reason !== 'ended') ? ` · ${endText(item.reason)}` : '';
  return (
    <p className="divider" data-reason={item.reason}>
      {item.until === null
        ? `${name} sleeps since ${dayWithin(item.from, now)} ${clockTime(item.from)}`
        : `${dayName(item.from, now)} ${clockTime(item.from)} · ${name} slept ${duration(item.until - item.from)}`}
      {why}
    </p>
  );
}

/** `Thursday 03:10 · by itself: routine “Morning round” · done`: above what was said while no session ran. */
export function RunDivider({ run, now }: { run: RunSpan; now: number }) {
  const nameOf = useNames();
  const { startedAt, cause, end } = run;
  return (
    <p className="divider" data-outcome={end?.outcome ?? 'running'}>
      {startedAt !== null && `${dayName(startedAt, now)} ${clockTime(startedAt)} · `}
      {causeText(cause, nameOf)}
      {end && ` · ${outcomeText(end.outcome)}`}
      {end?.reason && ` (${end.reason.replace(/\.$/, '')})`}
    </p>
  );
}
