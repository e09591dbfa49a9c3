/**
 * Schedules as records of the household. Pages store them too, and restore them to a relay that has
 * lost them. Also the proposals of agents, and the agent snapshots.
 */
import { sql } from 'kysely';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import {
  type SnapshotStatus,
  type Proposal,
  proposalSchema,
  type Schedule,
  type ScheduleOf,
  type ScheduleRecord,
  scheduleRecordSchema,
  type AgentSnapshot,
  agentSnapshotSchema,
  WAITS_FOR_YES,
} from '../../src/shared/protocol/schedules.ts';
import { COPY_ORDER_CHARS } from '../../src/shared/domain/schedule/copy-order.ts';
import type { TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import type { AskedAnswer, AskedOutcome, AskedRecord, RecordAnswer } from '../../src/shared/protocol/records.ts';
import { isAtMost } from '../store/dialect.ts';
import { type Db, parseText } from '../store/index.ts';
import type { Sealer } from '../platform/sealer.ts';
import { createAskedRows, hashOf, orNoRoom, type RecordSource, statusAt } from '../team/records/index.ts';
import type { Written } from './refusals.ts';
import type { AskedProjects } from './mappings.ts';
import { isOn, json, type Row, type ScheduleRows } from './rows.ts';
import { isAgreed } from './scripts.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';

// Routines proposed by agents. A proposal only records what was asked. It becomes due once the
// person accepts it.

/** Most open proposals of one agent. */
const MOST_OPEN = 5;

export interface Proposals {
  /** Null: stored. Otherwise: a sentence for the agent on why not. */
  add(agentId: AgentId, why: string, routine: ScheduleOf<'routine'>): Promise<string | null>;
  /** Unanswered proposals, oldest first. */
  open(): Promise<Proposal[]>;
  /** Null: there is no such open proposal. If the schedule is refused, the proposal stays open. */
  accept(proposalId: string): Promise<Written | null>;
  /** False: there is no such open proposal. */
  decline(proposalId: string): Promise<boolean>;
}

interface ProposalsDeps {
  readonly db: Db;
  /** Id of the home. */
  readonly home: string;
  readonly schedules: {
    put(scheduleId: ScheduleId, schedule: Schedule): Promise<Written>;
    freeName(agentId: AgentId, name: string): Promise<string>;
  };
  readonly now: () => number;
  readonly newId: () => string;
  readonly onChange: (agentId: AgentId) => void;
}

export function createProposals({ db, home, schedules, now, newId, onChange }: ProposalsDeps): Proposals {
  const inTurn = createQueue();
  async function open(): Promise<Proposal[]> {
    const rows = await db
      .selectFrom('proposals')
      .selectAll()
      .where('home', '=', home)
      .where('answer', 'is', null)
      .orderBy('made_at')
      .orderBy('proposal')
      .execute();
    return rows.map((row) =>
      proposalSchema.parse({
        proposalId: row.proposal,
        agentId: parseText(row.agent_json),
        why: parseText(row.why_json),
        routine: JSON.parse(row.value_json),
        madeAt: row.made_at,
      }),
    );
  }
  const one = async (proposalId: string) => (await open()).find((each) => each.proposalId === proposalId);
  async function answered(proposalId: string, answer: 'accepted' | 'declined'): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('proposals')
      .set({ answer, answered_at: now() })
      .where('home', '=', home)
      .where('proposal', '=', proposalId)
      .where('answer', 'is', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  return {
    open,
    // Queued, so that concurrent calls cannot exceed the limit.
    add: (agentId, why, routine) =>
      inTurn(async () => {
        const own = (await open()).filter((each) => each.agentId === agentId);
        if (own.length >= MOST_OPEN)
          return `${MOST_OPEN} of your proposals wait for the human. Wait for an answer first.`;
        await db
          .insertInto('proposals')
          .values({
            home,
            proposal: newId(),
            agent_json: json(agentId),
            value_json: JSON.stringify({ ...routine, agentId }),
            why_json: json(why),
            made_at: now(),
          })
          .execute();
        onChange(agentId);
        return null;
      }),
    async accept(proposalId) {
      const proposal = await one(proposalId);
      if (!proposal) return null;
      const { agentId, routine } = proposal;
      // The routine's id is that of the proposal. Accepting it twice gives one routine.
      const name = await schedules.freeName(agentId, routine.name);
      const written = await schedules.put(proposalId, { ...routine, name, enabled: true });
      if (written.ok) await answered(proposalId, 'accepted');
      onChange(agentId);
      return written;
    },
    async decline(proposalId) {
      const proposal = await one(proposalId);
      if (!proposal || !(await answered(proposalId, 'declined'))) return false;
      onChange(proposal.agentId);
      return true;
    },
  };
}

// Agent snapshots: what each agent needs to run without a browser. They are encrypted at rest and
// deleted when they are withdrawn.

export interface Copies {
  /** Undefined: there is none, or it cannot be decrypted. */
  of(agentId: AgentId): Promise<AgentSnapshot | undefined>;
  has(agentId: AgentId): Promise<boolean>;
  /**
   * Time of the latest message in the snapshot, in ms since the epoch. Null: it has none, or there
   * is no snapshot.
   */
  lastSaid(agentId: AgentId): Promise<number | null>;
  all(): Promise<SnapshotStatus[]>;
  /** Stores a snapshot. Does nothing if it was withdrawn, or if the stored one is newer. */
  leave(agentId: AgentId, copy: AgentSnapshot, version: string): Promise<Left>;
  /**
   * Withdraws the snapshot. No new one can be stored until `allow`, not even by a request already
   * under way. False: there was none.
   */
  withdraw(agentId: AgentId): Promise<boolean>;
  /** Agents whose snapshot the person has withdrawn. */
  withdrawn(): Promise<string[]>;
  /**
   * Deletes the snapshots of agents that are not in the household any more. Resolves with their
   * ids.
   */
  keepOnly(agentIds: ReadonlySet<AgentId>): Promise<string[]>;
  /** The person allows snapshots of this agent again. */
  allow(agentId: AgentId): Promise<void>;
}

type Left = 'left' | 'taken-back' | 'older-copy';

interface CopiesDeps {
  readonly db: Db;
  /** Id of the home. */
  readonly home: string;
  readonly sealer: Sealer;
  readonly now: () => number;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

export function createCopies({ db, home, sealer, now, setAside = SETS_NOTHING_ASIDE }: CopiesDeps): Copies {
  const about = (agentId: AgentId) => json(`standing copy ${home} ${agentId}`);
  /** Content of a withdrawn snapshot's row: nothing. */
  const GONE = new Uint8Array(0);
  const mine = () => db.selectFrom('standing_copies').where('home', '=', home).where('version', '<>', '');
  function opened(agentId: AgentId, sealed: Uint8Array): AgentSnapshot | undefined {
    const text = sealer.open(sealed, about(agentId));
    return text === null ? undefined : agentSnapshotSchema.parse(JSON.parse(text));
  }
  async function has(agentId: AgentId): Promise<boolean> {
    const row = await mine().select('agent_json').where('agent_json', '=', json(agentId)).executeTakeFirst();
    return row !== undefined;
  }
  return {
    async of(agentId) {
      const row = await mine().select('sealed').where('agent_json', '=', json(agentId)).executeTakeFirst();
      return row && opened(agentId, row.sealed);
    },
    has,
    async lastSaid(agentId) {
      const row = await mine().select('version').where('agent_json', '=', json(agentId)).executeTakeFirst();
      const time = Number(row?.version.slice(0, COPY_ORDER_CHARS));
      return Number.isSafeInteger(time) && time > 0 ? time : null;
    },
    async all() {
      const rows = await mine().selectAll().orderBy('agent_json').execute();
      const readOne = (row: (typeof rows)[number]): SnapshotStatus[] => {
        const agentId = parseText(row.agent_json);
        const copy = opened(agentId, row.sealed);
        if (!copy) return [];
        return [
          {
            agentId,
            leftAt: row.left_at,
            version: row.version,
            bytes: row.sealed.length,
            soulChars: copy.soul?.length ?? 0,
            transcriptChars: copy.transcript?.length ?? 0,
          },
        ];
      };
      return setAside.read('agent snapshots', rows, (row) => row.agent_json, readOne).flat();
    },
    async leave(agentId, copy, version) {
      const sealed = sealer.seal(JSON.stringify(copy), about(agentId));
      // Compared inside the statement, so that a concurrent withdrawal is not overwritten.
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('standing_copies')
        .values({ home, agent_json: json(agentId), sealed, version, left_at: now() })
        .onConflict((conflict) =>
          conflict
            .columns(['home', 'agent_json'])
            .doUpdateSet({ sealed, version, left_at: now() })
            .where('standing_copies.version', '<>', '')
            .where(
              isAtMost(
                sql`substr(standing_copies.version, 1, ${COPY_ORDER_CHARS})`,
                sql`substr(excluded.version, 1, ${COPY_ORDER_CHARS})`,
              ),
            ),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows > 0n) return 'left';
      return (await has(agentId)) ? 'older-copy' : 'taken-back';
    },
    async withdraw(agentId) {
      return await db.transaction().execute(async (trx) => {
        const row = await trx
          .selectFrom('standing_copies')
          .select('version')
          .where('home', '=', home)
          .where('agent_json', '=', json(agentId))
          .forUpdate()
          .executeTakeFirst();
        const gone = { sealed: GONE, version: '', left_at: now() };
        await trx
          .insertInto('standing_copies')
          .values({ home, agent_json: json(agentId), ...gone })
          .onConflict((conflict) => conflict.columns(['home', 'agent_json']).doUpdateSet(gone))
          .execute();
        return row !== undefined && row.version !== '';
      });
    },
    async withdrawn() {
      const rows = await db
        .selectFrom('standing_copies')
        .select('agent_json')
        .where('home', '=', home)
        .where('version', '=', '')
        .execute();
      return rows.map(({ agent_json }) => parseText(agent_json));
    },
    async keepOnly(agentIds) {
      const rows = await mine().select('agent_json').execute();
      const gone = setAside
        .read(
          'agent snapshots',
          rows,
          (row) => row.agent_json,
          (row) => parseText(row.agent_json),
        )
        .filter((agentId) => !agentIds.has(agentId));
      for (const agentId of gone)
        await db
          .deleteFrom('standing_copies')
          .where('home', '=', home)
          .where('agent_json', '=', json(agentId))
          .execute();
      return gone;
    },
    async allow(agentId) {
      await db
        .deleteFrom('standing_copies')
        .where('home', '=', home)
        .where('agent_json', '=', json(agentId))
        .where('version', '=', '')
        .execute();
    },
  };
}

interface ScheduleRecordsDeps {
  readonly db: Db;
  /** Id of the home. */
  readonly home: string;
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
  const asked = createAskedRows(deps, 'schedule');

  const taken = (is: boolean): RecordAnswer => ({ answer: is ? 'taken' : 'kept' });
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
      return taken(isAway);
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
      return taken(isAway);
    }
    // The running schedule stays unchanged until the person has consented to the new version.
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
    const waiting = await asked.get(scheduleId, '');
    if (!waiting) return null;
    const [row, stamp] = [await rows.get(scheduleId), (await rows.stamps([scheduleId])).get(scheduleId)];
    if (!row || row.elsewhere !== null || typeof stamp !== 'string' || stamp >= waiting.at) {
      await asked.drop(scheduleId);
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
      await asked.decline(id, '');
      return { outcome: 'done' };
    }
    if (isOther) {
      const given = givenOf(id, other.at, other.after);
      if ((await rows.restore(given, false, now(), await nextHere(given))) === false) return { outcome: 'over' };
      await asked.drop(id);
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
      const [stamps, waiting] = [await rows.stamps(ids), await asked.newest(ids)];
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
      for (const { id } of await asked.all()) {
        const other = await otherVersion(id);
        if (other) all.push(other.one);
      }
      return all;
    },
    answer: answerOne,
  };
}
