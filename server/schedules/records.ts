/** Schedules as records: a page has them too, and gives them back to a relay that has lost them. */
import type { ScheduleId } from '../../src/domain/ids.ts';
import type { TimingContext } from '../../src/domain/schedule/timing.ts';
import { scheduleRecordSchema, type Schedule, type ScheduleRecord } from '../../src/protocol/schedules.ts';
import type { RecordAnswer } from '../../src/protocol/records.ts';
import type { RecordSource } from '../records/index.ts';
import type { Row, ScheduleRows } from './rows.ts';

export interface ScheduleRecordsDeps {
  readonly rows: ScheduleRows;
  /** Names the home for other relays: what is due here is due nowhere else. */
  readonly site: () => Promise<string>;
  readonly batch: number;
  readonly now: () => number;
  /** When one is due next that comes back, and how that is reckoned. */
  nextOf(row: Pick<Row, 'schedule' | 'scheduleId'>): Promise<{
    readonly dueAt: number | null;
    readonly givenOffset: number | null;
    readonly contextOf: (row: Pick<Row, 'givenOffset'>) => TimingContext;
  }>;
  /** It is due at another relay from now on. */
  onMoved(schedule: Schedule): void;
  /** Something is to be told again: what was given names a home at which it is due no more. */
  onStale(): void;
  /** Something is due at other times now. */
  onChange(): void;
}

export function createScheduleRecords(deps: ScheduleRecordsDeps): RecordSource {
  const { rows, batch, now, nextOf, onMoved, onStale, onChange } = deps;

  /** What is here holds, and becomes the newest version. */
  async function tellAgain(scheduleId: ScheduleId): Promise<false> {
    await rows.tellAgain(scheduleId);
    onStale();
    return false;
  }
  /** False: what is here holds, or cannot be let go of yet. */
  async function take(
    given: Pick<ScheduleRecord, 'schedule' | 'turn' | 'since' | 'position'> & {
      readonly scheduleId: ScheduleId;
      readonly at: string;
    },
    { homeRelay: due, wanted, removed }: Pick<ScheduleRecord, 'homeRelay' | 'wanted' | 'removed'>,
  ): Promise<boolean> {
    const { scheduleId, schedule, turn } = given;
    const site = await deps.site();
    const here = removed ? null : await rows.get(scheduleId);
    // It is of before, whatever its stamp: whoever wrote it did not know yet where it is due.
    if (here && turn < here.turn) return await tellAgain(scheduleId);
    if (!removed && due !== site) {
      const taken = await rows.keepAway(given, due, wanted === site, now());
      if (taken && here?.elsewhere === null) onMoved(schedule);
      return taken;
    }
    const asks = wanted !== null && wanted !== site;
    if (here && here.elsewhere !== null) {
      const { contextOf, givenOffset } = await nextOf({ scheduleId, schedule });
      const taken = await rows.arrive(given, now(), contextOf, givenOffset);
      // Whoever asks asks again, once it hears that it is here.
      if (!taken || asks) await tellAgain(scheduleId);
      return taken;
    }
    if (here && asks) {
      const taken = await rows.letGo(given, wanted, now());
      if (taken) onMoved(here.schedule);
      return taken;
    }
    return await rows.restore(given, removed, now(), await nextOf({ scheduleId, schedule }));
  }

  return {
    types: ['schedule'],
    hears: ({ what }) => what === 'schedules',
    says: ['schedules'],
    async unannounced() {
      const [changed, site] = [await rows.unannounced(batch), await deps.site()];
      return changed.map((row) => ({
        record: {
          type: 'schedule',
          id: row.scheduleId,
          value: {
            homeRelay: row.elsewhere ?? site,
            wanted: row.wanted ? site : null,
            since: row.since,
            turn: row.turn,
            removed: row.removed,
            position: row.position,
            schedule: row.schedule,
          },
        },
        announced: (at) => rows.announced(row, at),
      }));
    },
    async standings(asked) {
      const stamps = await rows.stamps(asked.map(({ id }) => id));
      return asked.map(({ id, at }) => {
        const stamp = stamps.get(id);
        if (stamp === undefined) return 'unknown';
        return stamp === null || stamp >= at ? 'known' : 'older';
      });
    },
    async restore(offered) {
      const answers: RecordAnswer[] = [];
      for (const { type, id, at, value } of offered) {
        if (type !== 'schedule') {
          answers.push({ answer: 'refused', why: 'It is no schedule.' });
          continue;
        }
        const { homeRelay: due, wanted, since, turn, removed, position, schedule } = scheduleRecordSchema.parse(value);
        const named = removed ? null : await rows.named(schedule.agentId, schedule.name);
        if (named && named.scheduleId !== id) {
          answers.push({ answer: 'refused', why: 'Its agent has something else of that name by now.' });
          continue;
        }
        const taken = await take(
          { scheduleId: id, schedule, at, turn, since, position },
          { homeRelay: due, wanted, removed },
        );
        answers.push(taken ? { answer: 'taken' } : { answer: 'kept' });
      }
      onChange();
      return answers;
    },
  };
}
