/** What a sender is told of its message and of its wake. */
import type { WakeReason, WakeWay } from '../../../src/shared/domain/guardrails.ts';
import { shownName } from '../../../src/shared/domain/names.ts';
import { seatNumber } from '../../../src/shared/domain/seat.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { WakeDecision, WakeSource } from '../../../src/shared/protocol/wakes.ts';

const waits = (name: string) =>
  `Your message is in ${name}’s inbox and will be read at its next turn; nothing of it is lost.`;

/**
 * `left`: calls of `wake_agent` that the caller has left in its session; null: not counted here.
 */
export function outcomeText(
  name: string,
  { outcome, detail }: Pick<WakeDecision, 'outcome' | 'detail'>,
  left: number | null,
): string {
  const rest = left === null ? '' : ` You have ${left} ${left === 1 ? 'wake' : 'wakes'} left in this session.`;
  switch (outcome) {
    case 'granted':
      return `Granted: ${name} is awake and reads your message now.${rest}`;
    case 'deferred':
      return `Deferred: ${detail} ${waits(name)}${rest}`;
    case 'suppressed':
      return `Suppressed: ${detail} ${waits(name)}${rest}`;
    case 'error':
      return `Not asked: ${detail} ${waits(name)}${rest}`;
    default:
      return outcome satisfies never;
  }
}

/** Of a sleeping agent that is woken as soon as nothing stops that. */
export const waitsText = (name: string, { detail }: Pick<WakeDecision, 'detail'>): string =>
  `${name} is woken in its turn. ${detail} ${waits(name)}`;

export const delivered = (name: string): string => `Delivered to ${name}’s inbox. It is read at ${name}’s next turn.`;

const WHY: Readonly<Record<WakeReason, string>> = {
  blocker: 'something is blocked',
  critical_finding: 'a critical finding',
  user_request: 'the human asked for it',
};

function byWhom(source: WakeSource, team: readonly TeamMember[]): string {
  if (source.kind === 'person') return 'the human';
  if (source.kind !== 'agent') return shownName(source.name, 'label');
  const member = team.find(({ agentId }) => agentId === source.agentId);
  return member
    ? `${member.name}${member.position === null ? '' : ` (seat ${seatNumber(member.position)})`}`
    : source.agentId;
}

/** The line that an agent is given with the turn for which it was woken. */
export function wokenBy(
  source: WakeSource,
  way: WakeWay,
  reason: WakeReason | null,
  team: readonly TeamMember[],
): string {
  const who = byWhom(source, team);
  switch (way) {
    case 'wake_agent':
      return `[You are awake: ${who} woke you${reason === null ? '' : `, because of this: ${WHY[reason]}`}]`;
    case 'urgent_message':
      return `[You are awake: ${who} sent you something urgent]`;
    case 'thread_mention':
      return `[You are awake: ${who} mentioned you in a thread]`;
    case 'thread_added':
      return `[You are awake: ${who} added you to a thread]`;
    case 'schedule':
      return `[You are awake: it is the time set in ${who}]`;
    case 'reminder':
      return `[You are awake: a reminder that you left for yourself is due]`;
    case 'script_failure':
      return `[You are awake: ${who} has failed]`;
    case 'answer':
      return `[You are awake: ${who} answered what you asked]`;
    case 'person':
    case 'api':
    case 'deferred':
      return `[You are awake: ${who} woke you]`;
    default:
      return way satisfies never;
  }
}
