/** A store as an earlier version left it: what its later steps made is taken away again. */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { MIGRATIONS, STORE_FILE } from '../../server/store/index.ts';

/** What takes the last steps back, the newest first. None of them changed a row. */
const BACK = {
  '0006-dream-batches': 'alter table dreams drop column batch_json',
  '0005-exams': 'drop table exams',
} as const;

/** The store of a home that no relay has open. */
export function takeStepsBack(home: string): void {
  const names = Object.keys(BACK);
  const last = Object.keys(MIGRATIONS).slice(-names.length).toReversed();
  if (last.join(' ') !== names.join(' ')) throw new Error(`Say here how ${last[0]} is taken back.`);
  const db = new DatabaseSync(join(home, 'store', STORE_FILE));
  for (const [name, statement] of Object.entries(BACK))
    db.exec(`${statement}; delete from kysely_migration where name = '${name}'`);
  db.close();
}
