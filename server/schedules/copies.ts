/**
 * Standing copies: what each agent needs to be at work without a browser. Sealed at rest, and gone
 * when they are taken back.
 */
import { sql } from 'kysely';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { COPY_ORDER_CHARS } from '../../src/shared/domain/schedule/copy-order.ts';
import { standingCopySchema, type CopyStanding, type StandingCopy } from '../../src/shared/protocol/schedules.ts';
import { parseText, type Db } from '../store/index.ts';
import { json } from './rows.ts';
import type { Sealer } from '../platform/sealer.ts';

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

export type Left = 'left' | 'taken-back' | 'older-copy';

export interface CopiesDeps {
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
