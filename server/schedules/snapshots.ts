/**
 * Agent snapshots: what each agent needs to run without a browser. They are encrypted at rest and
 * deleted when they are withdrawn.
 */
import type { Context } from 'hono';
import { sql } from 'kysely';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { SNAPSHOT_ORDER_CHARS } from '../../src/shared/domain/schedule/snapshot-order.ts';
import { snapshotEndpoints } from '../../src/shared/protocol/endpoints/snapshots.ts';
import { type AgentSnapshot, agentSnapshotSchema, type SnapshotStatus } from '../../src/shared/protocol/snapshots.ts';
import type { Runs } from '../agents/runs/index.ts';
import type { Directory } from '../team/directory/index.ts';
import { answer, type Env, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import type { Sealer } from '../platform/sealer.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import { isAtMost } from '../store/dialect.ts';
import { type HomeStore, parseText } from '../store/index.ts';
import { agentIdIn } from '../team/directory/index.ts';
import { json } from './rows.ts';

export interface Snapshots {
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
  leave(agentId: AgentId, snapshot: AgentSnapshot, version: string): Promise<Left>;
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

type Left = 'left' | 'withdrawn' | 'older-snapshot';

interface SnapshotsDeps extends HomeStore {
  readonly sealer: Sealer;
  readonly now: () => number;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

export function createSnapshots({ db, home, sealer, now, setAside = SETS_NOTHING_ASIDE }: SnapshotsDeps): Snapshots {
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
      const time = Number(row?.version.slice(0, SNAPSHOT_ORDER_CHARS));
      return Number.isSafeInteger(time) && time > 0 ? time : null;
    },
    async all() {
      const rows = await mine().selectAll().orderBy('agent_json').execute();
      const readOne = (row: (typeof rows)[number]): SnapshotStatus[] => {
        const agentId = parseText(row.agent_json);
        const snapshot = opened(agentId, row.sealed);
        if (!snapshot) return [];
        return [
          {
            agentId,
            leftAt: row.left_at,
            version: row.version,
            bytes: row.sealed.length,
            soulChars: snapshot.soul?.length ?? 0,
            transcriptChars: snapshot.transcript?.length ?? 0,
          },
        ];
      };
      return setAside.read('agent snapshots', rows, (row) => row.agent_json, readOne).flat();
    },
    async leave(agentId, snapshot, version) {
      const sealed = sealer.seal(JSON.stringify(snapshot), about(agentId));
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
                sql`substr(standing_copies.version, 1, ${SNAPSHOT_ORDER_CHARS})`,
                sql`substr(excluded.version, 1, ${SNAPSHOT_ORDER_CHARS})`,
              ),
            ),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows > 0n) return 'left';
      return (await has(agentId)) ? 'older-snapshot' : 'withdrawn';
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
        const emptied = { sealed: GONE, version: '', left_at: now() };
        await trx
          .insertInto('standing_copies')
          .values({ home, agent_json: json(agentId), ...emptied })
          .onConflict((conflict) => conflict.columns(['home', 'agent_json']).doUpdateSet(emptied))
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
      const unknownAgents = setAside
        .read(
          'agent snapshots',
          rows,
          (row) => row.agent_json,
          (row) => parseText(row.agent_json),
        )
        .filter((agentId) => !agentIds.has(agentId));
      for (const agentId of unknownAgents)
        await db
          .deleteFrom('standing_copies')
          .where('home', '=', home)
          .where('agent_json', '=', json(agentId))
          .execute();
      return unknownAgents;
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

export interface SnapshotRoutesDeps {
  readonly snapshots: Snapshots;
  readonly schedules: { stopAll(agentId: AgentId): Promise<unknown> };
  readonly runs: Pick<Runs, 'stop'>;
  readonly directory: Pick<Directory, 'all'>;
  /**
   * Whether an API client may start a session. Then every agent stores a snapshot, the lead too.
   */
  readonly startsWithoutPage: () => Promise<boolean>;
  /** Agents that dream by night, or whose dream is due. */
  readonly dreaming: () => Promise<readonly AgentId[]>;
  /** Final requests to forget. */
  readonly forgetIds: () => Promise<readonly string[]>;
}

/** Snapshots belong to the person. API clients have no access to them. */
function refusePrograms(context: Context<Env>): void {
  if (context.get('browser') === undefined)
    throw problem(403, 'browsers-only', 'Agent snapshots are left and withdrawn only by the household’s page.');
}

export function createSnapshotRoutes({
  snapshots,
  schedules,
  runs,
  directory,
  startsWithoutPage,
  dreaming,
  forgetIds,
}: SnapshotRoutesDeps): readonly Handled[] {
  const agentOf = (called: string) => agentIdIn(directory, called);
  return answer(snapshotEndpoints, {
    async agentSnapshots(_, context) {
      refusePrograms(context);
      const [all, withdrawn, everybody, whoDreams] = await Promise.all([
        snapshots.all(),
        snapshots.withdrawn(),
        startsWithoutPage(),
        dreaming(),
      ]);
      return {
        snapshots: all,
        withdrawn,
        ...(whoDreams.length > 0 ? { dreaming: [...whoDreams] } : {}),
        ...(everybody ? { everybody } : {}),
      };
    },
    async storeAgentSnapshot({ agentId, body }, context) {
      refusePrograms(context);
      const forgottenIds = new Set(body.forgets);
      if ((await forgetIds()).some((forgetId) => !forgottenIds.has(forgetId)))
        throw problem(409, 'older-snapshot', 'Something was forgotten that this snapshot may still have.');
      const left = await snapshots.leave(await agentOf(agentId), body.snapshot, body.version);
      if (left === 'withdrawn')
        throw problem(
          409,
          left,
          'The snapshot was withdrawn. A page leaves it again once a schedule of this agent is switched on.',
        );
      if (left === 'older-snapshot') throw problem(409, left, 'The stored snapshot is newer than this one.');
      return null;
    },
    async withdrawAgentSnapshot({ agentId }, context) {
      refusePrograms(context);
      const isMember = (await directory.all()).some((member) => member.agentId === agentId);
      if (!isMember && !(await snapshots.has(agentId)))
        throw problem(404, 'no-copy', 'There is no such agent, and no snapshot of one.');
      await snapshots.withdraw(agentId);
      // The agent's run uses the snapshot that was withdrawn.
      runs.stop(agentId);
      await schedules.stopAll(agentId);
      return null;
    },
  });
}
