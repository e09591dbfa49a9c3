/**
 * Schedules as records of the household. Pages store them too, and restore them to a relay that has
 * lost them.
 */
import type { ScheduleId } from '../../src/shared/domain/ids.ts';
import {
  type Schedule,
  type ScheduleRecord,
  scheduleRecordSchema,
  WAITS_FOR_YES,
} from '../../src/shared/protocol/schedules.ts';
import type { TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import type { AskedAnswer, AskedOutcome, AskedRecord, RecordAnswer } from '../../src/shared/protocol/records.ts';
import type { HomeStore } from '../store/index.ts';
import { createAskedRows, hashOf, orNoRoom, type RecordSource, statusAt } from '../team/records/index.ts';
import type { AskedProjects } from './mapping-contract.ts';
import { isOn, type Row, type ScheduleRows } from './rows.ts';
import { isAgreed } from './scripts.ts';

interface ScheduleRecordsDeps extends HomeStore {
  readonly rows: ScheduleRows;
  /** Names this home for other relays. What is due here is due nowhere else. */
  readonly site: () => Promise<string>;
  readonly batch: number;
  readonly now: () => number;
  /** The next due time of a restored schedule, and its timing rules. */
  nextOf(row: Pick<Row, 'schedule' | 'scheduleId'>): Promise<{
    readonly dueAt: number | null;
    readonly givenOffset: number | null;
    readonly contextOf: (row: Pick<Row, 'givenOffset'>) => TimingContext;
  }>;
  /** The schedule is due at another relay from now on. */
  onMoved(schedule: Schedule): void;
  /** A record must be announced again: the received one names the wrong home. */
  onStale(): void;
  /** Due times have changed. */
  onChange(): void;
  /** The projects on which a routine would work. */
  projectsOf(scheduleId: ScheduleId): Promise<AskedProjects>;
  /** The person has consented to the schedule here. */
  onYes(row: Row): Promise<void>;
  /** The person has refused it: it is disabled, or removed if it is a reminder. */
  onNo(row: Row): Promise<void>;
}

type Given = Parameters<ScheduleRows['restore']>[0];
const givenOf = (scheduleId: ScheduleId, at: string, record: ScheduleRecord): Given => {
  const { schedule, turn, since, position, createdAt = null, updatedAt = null } = record;
  return { scheduleId, schedule, at, turn, since, position, createdAt, updatedAt };
};
/** The parts of the record that do not depend on the relay at which it is due. */
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
  const askedRows = createAskedRows(deps, 'schedule');

  const answerOf = (is: boolean): RecordAnswer => ({ answer: is ? 'taken' : 'kept' });
  /** The version here stays, and is announced as the newest. */
  async function tellAgain(scheduleId: ScheduleId): Promise<RecordAnswer> {
    await rows.tellAgain(scheduleId);
    onStale();
    return { answer: 'kept' };
  }
  /** `kept`: the version here stays, or the schedule cannot be released yet. */
  async function take(given: Given, record: ScheduleRecord): Promise<RecordAnswer> {
    const { homeRelay: due, wanted, removed } = record;
    const { scheduleId, schedule, turn } = given;
    const site = await deps.site();
    const here = removed ? null : await rows.get(scheduleId);
    // An older record, whatever its stamp: its author did not know yet where the schedule is due.
    if (here && turn < here.turn) return await tellAgain(scheduleId);
    if (!removed && due !== site) {
      const isAway = await rows.keepAway(given, due, wanted === site, now());
      if (isAway && here?.elsewhere === null) onMoved(schedule);
      return answerOf(isAway);
    }
    const asks = wanted !== null && wanted !== site;
    if (here && here.elsewhere !== null) {
      const { contextOf, givenOffset } = await nextOf({ scheduleId, schedule });
      const arrived = await rows.arrive(given, now(), contextOf, givenOffset);
      // The asking relay asks again once it learns that the schedule is here.
      if (arrived === false || asks) await tellAgain(scheduleId);
      return { answer: arrived === false ? 'kept' : arrived };
    }
    if (here && asks) {
      const isAway = await rows.release(given, wanted, now());
      if (isAway) onMoved(here.schedule);
      return answerOf(isAway);
    }
    // The running schedule stays unchanged until the person has consented to the new version.
    if (here && here.pausedWhy !== WAITS_FOR_YES && !isAgreed(here.agreed, schedule)) {
      await db.transaction().execute((within) => askedRows.put(within, scheduleId, given.at, new Map([['', record]])));
      return { answer: 'asked' };
    }
    const restored = await rows.restore(given, removed, now(), await nextOf({ scheduleId, schedule }));
    if (restored !== false) await askedRows.drop(scheduleId);
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
  async function shown(id: string, here: ScheduleRecord | null, after: ScheduleRecord): Promise<Shown> {
    const projects = await deps.projectsOf(id);
    return {
      ...{ type: 'schedule', id, part: '', here, after },
      ...(projects.length > 0 ? { projects } : {}),
      hash: hashWith(after.schedule, projects),
    };
  }
  /** Consent is to the schedule together with its projects. */
  const hashWith = (schedule: Schedule, projects: AskedProjects): string =>
    hashOf(projects.length === 0 ? schedule : [schedule, projects]);
  /** A version that waits for consent while another one runs here. Null: none waits any more. */
  async function otherVersion(scheduleId: ScheduleId) {
    const waiting = await askedRows.get(scheduleId, '');
    if (!waiting) return null;
    const [row, stamp] = [await rows.get(scheduleId), (await rows.stamps([scheduleId])).get(scheduleId)];
    if (!row || row.elsewhere !== null || typeof stamp !== 'string' || stamp >= waiting.at) {
      await askedRows.drop(scheduleId);
      return null;
    }
    const after = scheduleRecordSchema.parse(waiting.value);
    return { at: waiting.at, after, one: await shown(scheduleId, await recordOf(row), after) };
  }
  async function nextHere(at: Pick<Row, 'scheduleId' | 'schedule'>) {
    const { dueAt, givenOffset } = await nextOf(at);
    return { dueAt: isOn({ schedule: at.schedule, pausedWhy: null }) ? dueAt : null, givenOffset };
  }
  async function agree(row: Row): Promise<AskedOutcome> {
    if (!(await rows.agree(row, now(), await nextHere(row)))) return { outcome: 'over' };
    await deps.onYes(row);
    onChange();
    return { outcome: 'done' };
  }
  async function answerOne({ id, hash, yes }: AskedAnswer): Promise<AskedOutcome> {
    const other = await otherVersion(id);
    const isOther = other?.one.hash === hash;
    if (isOther && !yes) {
      await askedRows.decline(id, '');
      return { outcome: 'done' };
    }
    if (isOther) {
      const given = givenOf(id, other.at, other.after);
      if ((await rows.restore(given, false, now(), await nextHere(given))) === false) return { outcome: 'over' };
      await askedRows.drop(id);
    }
    const row = await rows.get(id);
    if (row?.pausedWhy !== WAITS_FOR_YES) return { outcome: 'over' };
    if (hashWith(row.schedule, await deps.projectsOf(id)) !== hash) return { outcome: 'over' };
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
    async statuses(versions) {
      const ids = versions.map(({ id }) => id);
      const [stamps, waiting] = [await rows.stamps(ids), await askedRows.newest(ids)];
      return versions.map(({ id, at }) => ((waiting.get(id) ?? '') >= at ? 'known' : statusAt(stamps.get(id), at)));
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
        if (row.pausedWhy === WAITS_FOR_YES) all.push(await shown(row.scheduleId, null, await recordOf(row)));
      for (const { id } of await askedRows.all()) {
        const other = await otherVersion(id);
        if (other) all.push(other.one);
      }
      return all;
    },
    answer: answerOne,
  };
}
