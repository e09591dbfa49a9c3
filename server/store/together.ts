/** Transactions whose statements are known before the first of them is run. */
import type { Compilable, Kysely } from 'kysely';
import { isEmbedded } from './dialect.ts';
import { isConnection } from './embedded.ts';
import type { Tables } from './tables.ts';

/**
 * Runs the statements in one transaction, all or none. Resolves with the number of rows that each
 * has changed. `ifFirstChanges`: where the first changes no row, the others do not run, and the
 * answer is null. The embedded store is sent all of them at once.
 */
export async function runTogether(
  db: Kysely<Tables>,
  statements: readonly Compilable[],
  { ifFirstChanges = false }: { readonly ifFirstChanges?: boolean } = {},
): Promise<readonly number[] | null> {
  const queries = statements.map((statement) => statement.compile());
  if (!db.isTransaction && isEmbedded(db))
    return await db.getExecutor().provideConnection(async (connection) => {
      if (!isConnection(connection)) throw new Error('This connection is not of the embedded store');
      return await connection.runTogether(queries, ifFirstChanges);
    });
  async function run(transaction: Kysely<Tables>): Promise<readonly number[] | null> {
    const changes: number[] = [];
    for (const query of queries) {
      const { numAffectedRows = 0n } = await transaction.executeQuery(query);
      changes.push(Number(numAffectedRows));
      if (ifFirstChanges && changes[0] === 0) return null;
    }
    return changes;
  }
  return db.isTransaction ? await run(db) : await db.transaction().execute(run);
}
