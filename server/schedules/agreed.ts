/**
 * What the person has agreed to of something that is due: what it says, and whether it is on.
 * Something that came as a record is off until they have said yes to exactly that at this relay.
 */
import { createHash } from 'node:crypto';
import { isRecord } from '../../src/shared/domain/platform/is-record.ts';
import type { Schedule } from '../../src/shared/protocol/schedules.ts';

/** In whatever order its fields stand. */
const sorted = (_key: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;

/**
 * Fields that came later. What has them as they are by default is as it was agreed to before they
 * were there.
 */
const isAsBefore = (schedule: Schedule, field: string): boolean =>
  schedule.kind === 'routine'
    ? field === 'maxTurns' && schedule.maxTurns === null
    : (field === 'context' && schedule.context === 'none') ||
      (schedule.kind === 'script' &&
        (field === 'hosts' || field === 'own_hosts') &&
        (schedule[field] ?? []).length === 0);

/** Its colour is to the eye alone. */
function wordsOf(schedule: Schedule): { readonly on: boolean; readonly hash: string } {
  const words = Object.fromEntries(
    Object.entries(schedule).filter(
      ([field]) => field !== 'enabled' && field !== 'color' && !isAsBefore(schedule, field),
    ),
  );
  const hash = createHash('sha256').update(JSON.stringify(words, sorted)).digest('hex');
  return { on: schedule.kind === 'reminder' || schedule.enabled, hash };
}

/**
 * Whether it sets its agent to work again and again, or runs something: whoever lets it lets its
 * agent leave what it needs for that.
 */
export const runsByItself = (schedule: Schedule): boolean =>
  schedule.kind === 'reminder' ? schedule.timing.kind !== 'once' : schedule.enabled;

/** As it is kept beside what is scheduled. */
export function agreementOf(schedule: Schedule): string {
  const { on, hash } = wordsOf(schedule);
  return `${on ? 'on' : 'off'} ${hash}`;
}

/**
 * Whether nothing of it is new to the person. Switching it off is not. `agreed` null: they have
 * agreed to nothing of it.
 */
export function isAgreed(agreed: string | null, schedule: Schedule): boolean {
  const { on, hash } = wordsOf(schedule);
  return agreed === `on ${hash}` || (!on && agreed === `off ${hash}`);
}
