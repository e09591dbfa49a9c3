/** Describes wakes. Pure. */
import type { GateCheck, WakeOutcome, WakeReason, WakeWay } from '../../../shared/domain/guardrails.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { spoken, t } from '../../language/t.ts';
import type { WakeDecision, WakeSource } from '../../../shared/protocol/wakes.ts';
import { clockTime } from '../text/time.ts';

export type NameOf = (agentId: AgentId) => string;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const weekday = new Intl.DateTimeFormat(spoken.locale, { weekday: 'long' });

/** For longer durations, the time of day is more useful than the minutes left. */
const CLOCK_FROM = 2 * HOUR;

const OUTCOME_WORDS: Record<WakeOutcome, string> = {
  granted: t`woken`,
  suppressed: t`stopped`,
  deferred: t`postponed`,
  error: t`refused`,
};

export const REASON_WORDS: Record<WakeReason, string> = {
  blocker: t`blocked`,
  critical_finding: t`critical finding`,
  user_request: t`on your request`,
};

export const WAY_WORDS: Record<WakeWay, string> = {
  person: t`You woke it yourself`,
  answer: t`You answered what it asked`,
  wake_agent: t`Asked for`,
  urgent_message: t`An urgent message`,
  thread_mention: t`A mention in a thread`,
  thread_added: t`Added to a thread`,
  deferred: t`A postponed wake`,
  schedule: t`Routine`,
  reminder: t`Reminder`,
  script_failure: t`A failed script`,
  api: t`An API client`,
};

/** The waker: "You", an agent's name, or a self-given name. */
export function sourceName(source: WakeSource, nameOf: NameOf): string {
  switch (source.kind) {
    case 'person':
      return t`You`;
    case 'agent':
      return nameOf(source.agentId);
    case 'schedule':
    case 'script':
    case 'api':
      return t`“${source.name}”`;
    default:
      return source satisfies never;
  }
}

/** The waker, the kind of wake and the agent: "Lyra asked for Sage". */
export function askedText({ way, source, target }: WakeDecision, nameOf: NameOf): string {
  const sourceText = sourceName(source, nameOf);
  const whom = nameOf(target);
  switch (way) {
    case 'person':
      return t`${sourceText} woke ${whom}`;
    case 'answer':
      return t`${sourceText} answered what ${whom} asked`;
    case 'urgent_message':
      return t`${sourceText} sent ${whom} an urgent message`;
    case 'thread_mention':
      return t`${sourceText} mentioned ${whom} in a thread`;
    case 'wake_agent':
    case 'thread_added':
    case 'deferred':
    case 'schedule':
    case 'reminder':
    case 'script_failure':
    case 'api':
      return t`${sourceText} asked for ${whom}`;
    default:
      return way satisfies never;
  }
}

/** Agents of one click that are named. */
const NAMED = 3;

/**
 * The agents that one click woke: "You woke Lyra, Sage and 6 others". `wakes`: newest first; they
 * are named in the order of the requests.
 */
export function clickText(wakes: readonly WakeDecision[], nameOf: NameOf): string {
  const names = wakes.map(({ target }) => nameOf(target)).reverse();
  const told = names.length > NAMED ? [...names.slice(0, NAMED - 1), t`${names.length - NAMED + 1} others`] : names;
  return t`You woke ${told.slice(0, -1).join(', ')} and ${told.at(-1) ?? ''}`;
}

/** The outcomes of all: "woken", or "7 woken, 1 refused". */
export function clickOutcomes(wakes: readonly WakeDecision[]): string {
  const texts = wakes.map(outcomeText);
  const kinds = [...new Set(texts)];
  return kinds.length === 1
    ? (kinds[0] ?? '')
    : kinds.map((kind) => `${texts.filter((text) => text === kind).length} ${kind}`).join(', ');
}

/** `40 s left`, `3 min left`, `until 07:00`, `until Tuesday 07:00`: as seen at `now`. */
export function leftText(until: number, now: number): string {
  const ms = Math.max(0, until - now);
  if (ms <= 90 * SECOND) return t`${t`${Math.ceil(ms / SECOND)} s`} left`;
  if (ms < CLOCK_FROM) return t`${t`${Math.ceil(ms / MINUTE)} min`} left`;
  const sameDay = new Date(until).toDateString() === new Date(now).toDateString();
  return t`until ${`${sameDay ? '' : `${weekday.format(until)} `}${clockTime(until)}`}`;
}

const STOPPED: Record<GateCheck, string> = {
  source_budget: t`no wakes left in this session`,
  disabled: t`wakes are off`,
  cooldown: t`too soon`,
  daily: t`no wakes left today`,
  pair: t`woken too often by this agent today`,
  blackout: t`quiet hours`,
  minutes: t`no minutes left today`,
  concurrency: t`too many at once`,
  idle: t`busy or not in the session`,
  flood: t`too many at once`,
};

/** The text of a check that stops something now, without an end: "too soon". */
export const stoppedText = (check: GateCheck): string => STOPPED[check];

/** The outcome in a few words: "woken", "too soon: 3 min left". */
export function outcomeText({ outcome, check, until, time }: WakeDecision): string {
  if (check === null) return OUTCOME_WORDS[outcome];
  const left = until === null || until <= time ? '' : `: ${leftText(until, time)}`;
  return `${STOPPED[check]}${left}`;
}
