import type { LogItem } from '../../state/conversation-log.ts';
import { endText } from '../text/reasons.ts';
import { clockTime, dayName, dayWithin, duration } from '../text/time.ts';

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
