/** Schedules as records: a page has them too, and gives them back to a relay that has lost them. */
import { sql } from 'kysely';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import {
  type CopyStanding,
  type Proposal,
  proposalSchema,
  type Schedule,
  type ScheduleOf,
  type ScheduleRecord,
  scheduleRecordSchema,
  type StandingCopy,
  standingCopySchema,
  WAITS_FOR_YES,
} from '../../src/shared/protocol/schedules.ts';
import { COPY_ORDER_CHARS } from '../../src/shared/domain/schedule/copy-order.ts';
import type { TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import type { AskedAnswer, AskedOutcome, AskedRecord, RecordAnswer } from '../../src/shared/protocol/records.ts';
import { type Db, parseText } from '../store/index.ts';
import type { Sealer } from '../platform/sealer.ts';
import { createAskedRows, hashOf, orNoRoom, type RecordSource } from '../team/records/index.ts';
import type { Written } from './refusals.ts';
import { isOn, json, type Row, type ScheduleRows } from './rows.ts';
import { isAgreed } from './scripts.ts';

// Routines that agents ask for. One is a record of what was asked, and nothing else: it is due only
// once the person has said yes.

/** That wait for an answer, of one agent. */
const MOST_OPEN = 5;

export interface Proposals {
  /** A sentence for the agent: it was not taken. */
  add(agentId: AgentId, why: string, routine: ScheduleOf<'routine'>): Promise<string | null>;
  /** Without an answer, the oldest first. */
  open(): Promise<Proposal[]>;
  /** Null: there is none, or it was answered. Refused, it waits still. */
  accept(proposalId: string): Promise<Written | null>;
  /** False: there is none, or it was answered. */
  decline(proposalId: string): Promise<boolean>;
}

interface ProposalsDeps {
  readonly db: Db;
  /** Names the home. */
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
    // In turn: many at once would each find the room that there is for one.
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
      // Under the proposal's own name: said yes to twice, it is one routine.
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

// Standing copies: what each agent needs to be at work without a browser. Sealed at rest, and gone
// when they are taken back.

export interface Copies {
  /** Undefined: there is none that can be read. */
  of(agentId: AgentId): Promise<StandingCopy | undefined>;
  has(agentId: AgentId): Promise<boolean>;
  /**
   * When something was said last that it knows, ms since the epoch; null: nothing, or there is
   * none.
   */
  lastSaid(agentId: AgentId): Promise<number | null>;
  all(): Promise<CopyStanding[]>;
  /** Where it was taken back, or knows less than the one that lies there, nothing is changed. */
  leave(agentId: AgentId, copy: StandingCopy, version: string): Promise<Left>;
  /**
   * False: there was none. Either way none is left again until `allow`, also not by whoever is
   * about to.
   */
  takeBack(agentId: AgentId): Promise<boolean>;
  /** Those whose copy the person has taken back. */
  takenBack(): Promise<string[]>;
  /** Lets go of those of agents who live here no more. Resolves with whose they were. */
  keepOnly(agentIds: ReadonlySet<AgentId>): Promise<string[]>;
  /** The person lets it be left again. */
  allow(agentId: AgentId): Promise<void>;
}

type Left = 'left' | 'taken-back' | 'older-copy';

interface CopiesDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly sealer: Sealer;
  readonly now: () => number;
}

export function createCopies({ db, home, sealer, now }: CopiesDeps): Copies {
  const about = (agentId: AgentId) => json(`standing copy ${home} ${agentId}`);
  /** What stands for one that was taken back: nothing of it. */
  const GONE = new Uint8Array(0);
  const mine = () => db.selectFrom('standing_copies').where('home', '=', home).where('version', '<>', '');
  function opened(agentId: AgentId, sealed: Uint8Array): StandingCopy | undefined {
    const text = sealer.open(sealed, about(agentId));
    return text === null ? undefined : standingCopySchema.parse(JSON.parse(text));
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
      return rows.flatMap((row): CopyStanding[] => {
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
      });
    },
    async leave(agentId, copy, version) {
      const sealed = sealer.seal(JSON.stringify(copy), about(agentId));
      // In the statement itself: whoever compared before it was taken back comes too late.
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('standing_copies')
        .values({ home, agent_json: json(agentId), sealed, version, left_at: now() })
        .onConflict((conflict) =>
          conflict
            .columns(['home', 'agent_json'])
            .doUpdateSet({ sealed, version, left_at: now() })
            .where('standing_copies.version', '<>', '')
            .where(
              sql<boolean>`left(standing_copies.version, ${COPY_ORDER_CHARS}) collate "C" <= left(excluded.version, ${COPY_ORDER_CHARS})`,
            ),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows > 0n) return 'left';
      return (await has(agentId)) ? 'older-copy' : 'taken-back';
    },
    async takeBack(agentId) {
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
    async takenBack() {
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
      const gone = rows.map(({ agent_json }) => parseText(agent_json)).filter((agentId) => !agentIds.has(agentId));
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
