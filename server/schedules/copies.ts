/** Standing copies: what each agent needs to be at work without a browser. Sealed at rest, and gone when they are taken back. */
import type { AgentId } from '../../src/domain/ids.ts';
import { standingCopySchema, type CopyStanding, type StandingCopy } from '../../src/protocol/schedules.ts';
import { parseText, type Db } from '../store/index.ts';
import { json } from './rows.ts';
import type { Sealer } from './sealer.ts';

export interface Copies {
  /** Undefined: there is none that can be read. */
  of(agentId: AgentId): Promise<StandingCopy | undefined>;
  has(agentId: AgentId): Promise<boolean>;
  all(): Promise<CopyStanding[]>;
  leave(agentId: AgentId, copy: StandingCopy, version: string): Promise<void>;
  /** False: there was none. None is to be left again until `allow`. */
  takeBack(agentId: AgentId): Promise<boolean>;
  /** Those whose copy the person has taken back. */
  takenBack(): Promise<string[]>;
  /** Lets go of those of agents who live here no more. Resolves with whose they were. */
  keepOnly(agentIds: ReadonlySet<AgentId>): Promise<string[]>;
  /** The person lets it be left again. */
  allow(agentId: AgentId): Promise<void>;
}

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
  return {
    async of(agentId) {
      const row = await mine().select('sealed').where('agent_json', '=', json(agentId)).executeTakeFirst();
      return row && opened(agentId, row.sealed);
    },
    async has(agentId) {
      const row = await mine().select('agent_json').where('agent_json', '=', json(agentId)).executeTakeFirst();
      return row !== undefined;
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
      await db
        .insertInto('standing_copies')
        .values({ home, agent_json: json(agentId), sealed, version, left_at: now() })
        .onConflict((conflict) =>
          conflict.columns(['home', 'agent_json']).doUpdateSet({ sealed, version, left_at: now() }),
        )
        .execute();
    },
    async takeBack(agentId) {
      const { numUpdatedRows } = await db
        .updateTable('standing_copies')
        .set({ sealed: GONE, version: '', left_at: now() })
        .where('home', '=', home)
        .where('agent_json', '=', json(agentId))
        .where('version', '<>', '')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
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
