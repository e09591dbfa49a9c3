/** Schedules as records: a page has them too, and gives them back to a relay that has lost them. */
import type { ScheduleId } from '../../src/shared/domain/ids.ts';
import type { TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import {
  scheduleRecordSchema,
  WAITS_FOR_YES,
  type Schedule,
  type ScheduleRecord,
} from '../../src/shared/protocol/schedules.ts';
import type { AskedAnswer, AskedOutcome, AskedRecord, RecordAnswer } from '../../src/shared/protocol/records.ts';
import { createAskedRows, hashOf, orNoRoom } from '../team/records/asked.ts';
import type { RecordSource } from '../team/records/index.ts';
import type { Db } from '../store/index.ts';
import { isAgreed } from './agreed.ts';
import { isOn, type Row, type ScheduleRows } from './rows.ts';

export interface ScheduleRecordsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
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
  /** The person has let it run here. */
  onYes(schedule: Schedule): Promise<void>;
  /** They have not: it is switched off, or a reminder taken away. */
  onNo(row: Row): Promise<void>;
}

type Given = Parameters<ScheduleRows['restore']>[0];
const givenOf = (scheduleId: ScheduleId, at: string, record: ScheduleRecord): Given => {
  const { schedule, turn, since, position, createdAt = null, updatedAt = null } = record;
  return { scheduleId, schedule, at, turn, since, position, createdAt, updatedAt };
};
/** What its record says, whichever relay it is due at. */
const wordsOf = ({ since, turn, position, createdAt, updatedAt, schedule }: Row) => ({
  since,
  turn,
  position,
  ...(createdAt === null ? {} : { createdAt }),
  ...(updatedAt === null ? {} : { updatedAt }),
  schedule,
});

export function createScheduleRecords(deps: ScheduleRecordsDeps): RecordSource {
  const { db, rows, batch, now, nextOf, onMoved, onStale, onChange } = deps;
  const asked = createAskedRows(deps, 'schedule');

  const taken = (is: boolean): RecordAnswer => ({ answer: is ? 'taken' : 'kept' });
  /** What is here holds, and becomes the newest version. */
  async function tellAgain(scheduleId: ScheduleId): Promise<RecordAnswer> {
    await rows.tellAgain(scheduleId);
    onStale();
    return { answer: 'kept' };
  }
  /** `kept`: what is here holds, or cannot be let go of yet. */
  async function take(given: Given, record: ScheduleRecord): Promise<RecordAnswer> {
    const { homeRelay: due, wanted, removed } = record;
    const { scheduleId, schedule, turn } = given;
    const site = await deps.site();
    const here = removed ? null : await rows.get(scheduleId);
    // It is of before, whatever its stamp: whoever wrote it did not know yet where it is due.
    if (here && turn < here.turn) return await tellAgain(scheduleId);
    if (!removed && due !== site) {
      const isAway = await rows.keepAway(given, due, wanted === site, now());
      if (isAway && here?.elsewhere === null) onMoved(schedule);
      return taken(isAway);
    }
    const asks = wanted !== null && wanted !== site;
    if (here && here.elsewhere !== null) {
      const { contextOf, givenOffset } = await nextOf({ scheduleId, schedule });
      const arrived = await rows.arrive(given, now(), contextOf, givenOffset);
      // Whoever asks asks again, once it hears that it is here.
      if (arrived === false || asks) await tellAgain(scheduleId);
      return { answer: arrived === false ? 'kept' : arrived };
    }
    if (here && asks) {
      const isAway = await rows.letGo(given, wanted, now());
      if (isAway) onMoved(here.schedule);
      return taken(isAway);
    }
    // What runs here goes on as it is until the person has said yes to how it would be.
    if (here && here.pausedWhy !== WAITS_FOR_YES && !isAgreed(here.agreed, schedule)) {
      await db.transaction().execute((within) => asked.put(within, scheduleId, given.at, new Map([['', record]])));
      return { answer: 'asked' };
    }
    const restored = await rows.restore(given, removed, now(), await nextOf({ scheduleId, schedule }));
    if (restored !== false) await asked.drop(scheduleId);
    return { answer: restored === false ? 'kept' : restored };
  }

  const recordOf = async (row: Row): Promise<ScheduleRecord> => ({
    homeRelay: row.elsewhere ?? (await deps.site()),
    wanted: null,
    removed: false,
    ...wordsOf(row),
  });
  type Shown = Extract<AskedRecord, { type: 'schedule' }>;
  /** `here` null: nothing of it runs here. */
  const shown = (id: string, here: ScheduleRecord | null, after: ScheduleRecord): Shown => ({
    ...{ type: 'schedule', id, part: '', here, after },
    hash: hashOf(after.schedule),
  });
  /** Another version of something that runs here. Null: it waits no more. */
  async function otherVersion(scheduleId: ScheduleId) {
    const waiting = await asked.get(scheduleId, '');
    if (!waiting) return null;
    const [row, stamp] = [await rows.get(scheduleId), (await rows.stamps([scheduleId])).get(scheduleId)];
    if (!row || row.elsewhere !== null || typeof stamp !== 'string' || stamp >= waiting.at) {
      await asked.drop(scheduleId);
      return null;
    }
    const after = scheduleRecordSchema.parse(waiting.value);
    return { at: waiting.at, after, one: shown(scheduleId, await recordOf(row), after) };
  }
  async function nextHere(at: Pick<Row, 'scheduleId' | 'schedule'>) {
    const { dueAt, givenOffset } = await nextOf(at);
    return { dueAt: isOn({ schedule: at.schedule, pausedWhy: null }) ? dueAt : null, givenOffset };
  }
  async function agree(row: Row): Promise<AskedOutcome> {
    if (!(await rows.agree(row, now(), await nextHere(row)))) return { outcome: 'over' };
    await deps.onYes(row.schedule);
    onChange();
    return { outcome: 'done' };
  }
  async function answerOne({ id, hash, yes }: AskedAnswer): Promise<AskedOutcome> {
    const other = await otherVersion(id);
    const isOther = other?.one.hash === hash;
    if (isOther && !yes) {
      await asked.decline(id, '');
      return { outcome: 'done' };
    }
    if (isOther) {
      const given = givenOf(id, other.at, other.after);
      if ((await rows.restore(given, false, now(), await nextHere(given))) === false) return { outcome: 'over' };
      await asked.drop(id);
    }
    const row = await rows.get(id);
    if (row?.pausedWhy !== WAITS_FOR_YES || hashOf(row.schedule) !== hash) return { outcome: 'over' };
    if (yes) return await agree(row);
    await deps.onNo(row);
    return { outcome: 'done' };
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
            removed: row.removed,
            ...wordsOf(row),
          },
        },
        announced: (at) => rows.announced(row, at),
      }));
    },
    async standings(versions) {
      const ids = versions.map(({ id }) => id);
      const [stamps, waiting] = [await rows.stamps(ids), await asked.newest(ids)];
      return versions.map(({ id, at }) => {
        const stamp = stamps.get(id);
        if ((waiting.get(id) ?? '') >= at) return 'known';
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
        const record = scheduleRecordSchema.parse(value);
        const { removed, schedule } = record;
        const named = removed ? null : await rows.named(schedule.agentId, schedule.name);
        if (named && named.scheduleId !== id) {
          answers.push({ answer: 'refused', why: 'Its agent has something else of that name by now.' });
          continue;
        }
        answers.push(await orNoRoom(take(givenOf(id, at, record), record)));
      }
      onChange();
      return answers;
    },
    async asked() {
      const all: AskedRecord[] = [];
      for (const row of await rows.all())
        if (row.pausedWhy === WAITS_FOR_YES) all.push(shown(row.scheduleId, null, await recordOf(row)));
      for (const { id } of await asked.all()) {
        const other = await otherVersion(id);
        if (other) all.push(other.one);
      }
      return all;
    },
    answer: answerOne,
  };
}
