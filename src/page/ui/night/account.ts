/** What happened since the person was last here, for one card. Pure. */
import type { AgentId, ScheduleId } from '../../../shared/domain/ids.ts';
import type { Occurrence } from '../../../shared/protocol/schedules.ts';
import { toneOf, whatText } from './words.ts';

/** What became of one routine: its newest words, and how often it did what. */
export interface AccountLine {
  readonly key: string;
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly name: string;
  readonly kind: Occurrence['kind'];
  /** Runs that came to a good end. */
  readonly done: number;
  /** The last of them; null: none. */
  readonly lastDone: Occurrence | null;
  /**
   * What failed, and what was skipped though something was to be done: the newest of each sort, and
   * how many.
   */
  readonly troubles: readonly { readonly newest: Occurrence; readonly count: number }[];
  /** Something of it began. */
  readonly ran: boolean;
  readonly costMicroUsd: number;
  /** Some of that is at the most. */
  readonly estimated: boolean;
}

/**
 * Moments that ended in (`since`, `upTo`] because nothing waited: no model was asked, and they are
 * one figure together.
 */
export const idleIn = (occurrences: readonly Occurrence[], since: number, upTo: number): number =>
  occurrences.filter(
    ({ reason, endedAt }) => reason === 'nothing-waits' && endedAt !== null && endedAt > since && endedAt <= upTo,
  ).length;

/**
 * A reminder that came, or a script that told its agent, and what the agent did then: the one
 * moment stands in the account twice.
 */
const isWhatFollowed = ({ kind, runId }: Occurrence) => (kind === 'reminder' || kind === 'script') && runId !== null;

/**
 * Of the moments that ended in (`since`, `upTo`], newest first. What idled is no news, and neither
 * is what was called off.
 */
export function accountOf(newestFirst: readonly Occurrence[], since: number, upTo: number): readonly AccountLine[] {
  const lines = new Map<string, AccountLine>();
  for (const one of newestFirst) {
    const tone = toneOf(one);
    if (one.endedAt === null || one.endedAt <= since || one.endedAt > upTo) continue;
    if (tone === 'quiet' || tone === 'open') continue;
    // Wakes of one agent have one name in the account; whoever woke it has a line.
    const key = `${one.scheduleId} ${one.kind === 'wake' ? one.name : ''}`;
    const held = lines.get(key) ?? {
      key,
      scheduleId: one.scheduleId,
      agentId: one.agentId,
      name: whatText(one),
      kind: one.kind,
      done: 0,
      lastDone: null,
      troubles: [],
      ran: false,
      costMicroUsd: 0,
      estimated: false,
    };
    const same = ({ newest }: { readonly newest: Occurrence }) =>
      newest.state === one.state && newest.reason === one.reason;
    const troubles = held.troubles.some(same)
      ? held.troubles.map((trouble) => (same(trouble) ? { ...trouble, count: trouble.count + 1 } : trouble))
      : [...held.troubles, { newest: one, count: 1 }];
    lines.set(key, {
      ...held,
      done: held.done + (tone === 'good' && !isWhatFollowed(one) ? 1 : 0),
      // Words before none: those that followed.
      lastDone:
        tone === 'good' && (!held.lastDone || (isWhatFollowed(one) && !held.lastDone.said)) ? one : held.lastDone,
      troubles: tone === 'good' ? held.troubles : troubles,
      ran: held.ran || one.runId !== null,
      costMicroUsd: held.costMicroUsd + (one.costMicroUsd ?? 0),
      estimated: held.estimated || one.estimated,
    });
  }
  return [...lines.values()];
}
