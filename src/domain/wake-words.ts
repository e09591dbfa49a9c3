/** What the gate says where it stops a wake: a sentence for the person, and for the agent that asked. */
import type { AgentState, GateCheck, WakeLimits } from './guardrails.ts';
import { wallTime } from './zone-days.ts';

export interface Stopped {
  /** ms since the epoch; null: not by waiting. */
  readonly until: number | null;
  /** Of a blackout. */
  readonly label?: string;
  readonly state: AgentState;
  readonly limits: WakeLimits;
  readonly now: number;
}

/** "in 4 min, at 14:05": how long, and what the household's clock will show. */
function whenOf({ until, limits, now }: Stopped): string {
  if (until === null) return 'Waiting does not help.';
  const seconds = Math.ceil((until - now) / 1_000);
  const minutes = Math.ceil(seconds / 60);
  const long = seconds < 120 ? `${seconds} s` : minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
  const clock = new Date(wallTime(limits.timeZone, until)).toISOString().slice(11, 16);
  return `The next can pass in ${long}, at ${clock}.`;
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);

/** `check` stopped it. */
export function reasonFor(check: GateCheck, stopped: Stopped): string {
  const { limits, state, label = '' } = stopped;
  switch (check) {
    case 'source_budget':
      return limits.maxWakesPerSession === 0
        ? 'This agent may wake nobody. The message is left as message_agent would have left it; it need not be sent again.'
        : `This caller has woken others ${times(limits.maxWakesPerSession)} with wake_agent in this session, which is its limit. The message is left as message_agent would have left it; it need not be sent again.`;
    case 'disabled':
      return limits.householdEnabled
        ? 'Waking this agent is switched off.'
        : 'All waking is switched off in this household.';
    case 'cooldown':
      return `It was woken less than ${limits.cooldownSeconds} s ago. ${whenOf(stopped)}`;
    case 'daily':
      return limits.maxWakesPerDay === 0
        ? 'Its limit is 0 wakes a day: it is never woken.'
        : `It was woken ${times(limits.maxWakesPerDay)} today, which is its limit. ${whenOf(stopped)}`;
    case 'pair':
      return limits.maxWakesPerPairPerDay === 0
        ? 'Its limit is 0 wakes a day for each who asks: it is never woken.'
        : `Whoever asks has woken it ${times(limits.maxWakesPerPairPerDay)} today, which is the limit for one. ${whenOf(stopped)}`;
    case 'blackout':
      return `It is not woken at this hour${label === '' ? '' : ` (${label})`}. ${whenOf(stopped)}`;
    case 'minutes':
      return limits.maxDailySessionMinutes === 0
        ? 'Its limit is 0 minutes a day: it is never woken.'
        : `Its sessions have run ${limits.maxDailySessionMinutes} minutes today, which is its limit. ${whenOf(stopped)}`;
    case 'concurrency':
      return limits.maxConcurrentSessions === 0
        ? 'Its limit is 0 sessions at a time: it is never woken.'
        : `It has ${limits.maxConcurrentSessions === 1 ? 'a session' : `${limits.maxConcurrentSessions} sessions`} under way already, which is its limit. It can be woken when one is over.`;
    case 'idle':
      if (state === 'absent') return 'It is not in a running session. The message waits until it is.';
      if (state === 'played') return 'A client plays it from elsewhere, and begins its turns itself.';
      return 'It is in the middle of a turn. This is taken up when the turn is over.';
    case 'flood':
      return limits.floodMaxWakes === 0
        ? 'The household lets nobody but the person wake anyone.'
        : `The household has had ${limits.floodMaxWakes === 1 ? 'a wake' : `${limits.floodMaxWakes} wakes`} in ${limits.floodWindowSeconds} s, which is its limit. ${whenOf(stopped)}`;
  }
}
