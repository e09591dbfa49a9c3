/**
 * Tokens for repositories, sealed with the relay's key. They are no records: no other device, no
 * export and no agent has them.
 */
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { forgeKindSchema, type ForgeKind } from '../../../src/shared/protocol/attempts.ts';
import type { Sealer } from '../../platform/sealer.ts';
import type { HomeStore } from '../../store/index.ts';

export interface StoredToken {
  readonly token: string;
  /** Null: requests are kept in Roost. */
  readonly forge: ForgeKind | null;
}

export interface Tokens {
  /** Null: none is set, or it was sealed with another key. */
  of(projectId: ProjectId): Promise<StoredToken | null>;
  put(projectId: ProjectId, stored: StoredToken): Promise<void>;
  remove(projectId: ProjectId): Promise<void>;
}

interface TokensDeps extends HomeStore {
  readonly sealer: Sealer;
}

export function createTokens({ db, home, sealer }: TokensDeps): Tokens {
  const about = (projectId: ProjectId) => JSON.stringify(['token of a project', home, projectId]);
  return {
    async of(projectId) {
      const row = await db
        .selectFrom('project_tokens')
        .selectAll()
        .where('home', '=', home)
        .where('project', '=', projectId)
        .executeTakeFirst();
      const token = row ? sealer.open(row.sealed, about(projectId)) : null;
      return token === null
        ? null
        : {
            token,
            forge: forgeKindSchema
              .nullable()
              .catch(null)
              .parse(row?.forge ?? null),
          };
    },
    async put(projectId, { token, forge }) {
      const own = { forge, sealed: sealer.seal(token, about(projectId)) };
      await db
        .insertInto('project_tokens')
        .values({ home, project: projectId, ...own })
        .onConflict((conflict) => conflict.columns(['home', 'project']).doUpdateSet(own))
        .execute();
    },
    async remove(projectId) {
      await db.deleteFrom('project_tokens').where('home', '=', home).where('project', '=', projectId).execute();
    },
  };
}
