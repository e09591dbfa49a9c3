/** Schedules as records: a page has them too, and gives them back to a relay that has lost them. */
import { scheduleRecordSchema, type Schedule } from '../../src/protocol/schedules.ts';
import type { RecordAnswer } from '../../src/protocol/records.ts';
import type { RecordSource } from '../records/index.ts';
import type { Row, ScheduleRows } from './rows.ts';

/** Why it is not due here, for people. */
const ELSEWHERE =
  'It is due at another relay of this household now, and so not here. Switched on here, it comes back, and stops there.';

export interface ScheduleRecordsDeps {
  readonly rows: ScheduleRows;
  /** Names the home: what is due here is due nowhere else. */
  readonly home: string;
  readonly batch: number;
  readonly now: () => number;
  /** When one is due next that comes back. */
  nextOf(
    row: Pick<Row, 'schedule' | 'scheduleId'>,
  ): Promise<{ readonly dueAt: number | null; readonly givenOffset: number | null }>;
  /** It is due at another relay from now on. */
  onMoved(schedule: Schedule): void;
  /** Something is due at other times now. */
  onChange(): void;
}

export function createScheduleRecords(deps: ScheduleRecordsDeps): RecordSource {
  const { rows, home, batch, now, nextOf, onMoved, onChange } = deps;
  return {
    types: ['schedule'],
    hears: ({ what }) => what === 'schedules',
    says: ['schedules'],
    async unannounced() {
      const changed = await rows.unannounced(batch);
      return changed.map((row) => ({
        record: {
          type: 'schedule',
          id: row.scheduleId,
          value: { home, removed: row.removed, schedule: row.schedule },
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
        const { home: due, removed, schedule } = scheduleRecordSchema.parse(value);
        const named = removed ? null : await rows.named(schedule.agentId, schedule.name);
        if (named && named.scheduleId !== id) {
          answers.push({ answer: 'refused', why: 'Its agent has something else of that name by now.' });
          continue;
        }
        // Another relay of the household has it now: it stops here, and would be due twice otherwise.
        if (!removed && due !== home && (await rows.get(id))) {
          const moved = await rows.yields(id, { schedule, at, to: due, why: ELSEWHERE, now: now() });
          if (moved) onMoved(schedule);
          answers.push(moved ? { answer: 'taken' } : { answer: 'kept' });
          continue;
        }
        const next = removed ? null : await nextOf({ scheduleId: id, schedule });
        const taken = await rows.restore(
          id,
          { schedule, removed },
          at,
          // One that was due elsewhere is due here from now on, and so every device is told.
          due === home ? at : null,
          now(),
          next?.dueAt ?? null,
          next?.givenOffset ?? null,
        );
        answers.push(taken ? { answer: 'taken' } : { answer: 'kept' });
      }
      onChange();
      return answers;
    },
  };
}
