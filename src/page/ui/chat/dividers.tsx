import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { LogItem } from '../../state/conversation-log.ts';
import type { RunSpan } from '../../state/live.ts';
import { endText } from '../text/reasons.ts';
import { clockTime, dayName, dayWithin, duration } from '../text/time.ts';
import { useNames } from '../use-somebody.ts';
import type { RunCause, RunOutcome } from '../../../shared/protocol/runs.ts';

/** What an agent did while no session ran, in one line. */

/** The cause of a run. `nameOf` maps an agent's id to its name. */
export function causeText(cause: RunCause | null, nameOf: (agentId: AgentId) => string): string {
  switch (cause?.kind) {
    case undefined:
      return t`at work alone`;
    case 'session':
      return t`in a session`;
    case 'wake': {
      const by = cause.by === 'human' ? t`you` : nameOf(cause.by);
      return t`woken by ${by}`;
    }
    case 'pulse':
      return t`routine “${cause.routine}”`;
    case 'reminder':
      return t`reminder “${cause.name}”`;
    case 'script':
      return t`script “${cause.name}” failed (${cause.status})`;
    case 'executor':
      return t`executor of a task`;
    case 'dream':
      return t`dreamt`;
    default:
      return cause satisfies never;
  }
}

export function outcomeText(outcome: RunOutcome): string {
  switch (outcome) {
    case 'done':
      return t`done`;
    case 'failed':
      return t`failed`;
    case 'stopped':
      return t`stopped`;
    case 'timed-out':
      return t`took too long`;
    case 'crashed':
      return t`the relay crashed`;
    default:
      return outcome satisfies never;
  }
}

export function DayDivider({ time, now }: { time: number; now: number }) {
  return (
    <p className="divider centred gap-5 text-2 line ink-3 balanced">
      {dayName(time, now)} {clockTime(time)}
    </p>
  );
}

/** Marks the first unread message when a conversation is opened. */
export function NewDivider() {
  return (
    <div
      className="divider centred gap-5 text-2 line divider-new bold"
      role="separator"
      aria-label={t`New messages`}
    >{t`New`}</div>
  );
}

/** `Thursday 23:41 · Lyra slept 9 hours`, or the sleep in progress. */
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
    <p className="divider centred gap-5 text-2 line ink-3 balanced" data-reason={item.reason}>
      {item.until === null
        ? t`${name} sleeps since ${dayWithin(item.from, now)} ${clockTime(item.from)}`
        : t`${dayName(item.from, now)} ${clockTime(item.from)} · ${name} slept ${duration(item.until - item.from)}`}
      {why}
    </p>
  );
}

/**
 * `Thursday 03:10 · by itself: routine “Morning round” · done`: stands above the messages of a run
 * outside a session.
 */
export function RunDivider({ run, now }: { run: RunSpan; now: number }) {
  const nameOf = useNames();
  const { startedAt, cause, end } = run;
  return (
    <p className="divider centred gap-5 text-2 line" data-outcome={end?.outcome ?? 'running'}>
      <span>
        {startedAt !== null && <span>{`${dayName(startedAt, now)} ${clockTime(startedAt)} · `}</span>}
        <span>{causeText(cause, nameOf)}</span>
        {end && <span>{` · ${outcomeText(end.outcome)}`}</span>}
        {end?.reason && <span>{` (${end.reason.replace(/\.$/, '')})`}</span>}
      </span>
    </p>
  );
}
