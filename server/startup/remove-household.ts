/**
 * `--remove-household`: the operator removes a household, with every row and file that the relay
 * has of it. No relay may run on the home meanwhile. Browsers of the household keep what they have.
 */
import { join } from 'node:path';
import { sentence } from '../../src/shared/domain/names.ts';
import { StartError } from '../platform/errors.ts';
import { forgetHousehold } from '../store/forgetting.ts';
import { type Db, openStore } from '../store/index.ts';
import { removeFolder } from '../files/workspaces/index.ts';
import type { Config } from './config.ts';
import { lockHome, openHomeFolder, readHome } from './home.ts';

/** The households of this relay but its first, oldest first. */
async function others(db: Db, relay: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('homes')
    .select('home')
    .where('relay', '=', relay)
    .where('home', '!=', relay)
    .orderBy('made_at')
    .execute();
  return rows.map(({ home }) => home);
}

/** `id`: of its home. Throws `StartError` where there is no such household, or it is the first. */
export async function removeHousehold(
  { home: folder, databaseUrl }: Pick<Config, 'home' | 'databaseUrl'>,
  id: string,
  tell: (line: string) => void,
): Promise<void> {
  const path = await openHomeFolder(folder);
  const lock = await lockHome(path);
  try {
    const { relay, ...home } = await readHome(path);
    if (id === relay)
      throw new StartError(
        sentence`${id} is the first household of this relay, with the rights of its owner. To remove it, delete the home ${path}, and the database that DATABASE_URL names.`,
      );
    const store = await openStore({ folder: home.storeFolder, databaseUrl });
    try {
      const households = await others(store.db, relay);
      if (!households.includes(id))
        throw new StartError(
          households.length === 0
            ? sentence`There is no household ${id}. This relay has only its first one.`
            : sentence`There is no household ${id}. Besides the first, this relay has ${households.join(', ')}.`,
        );
      // Its rows go last, so that the command can be repeated where it was interrupted.
      for (const each of [home.workspacesFolder, home.projectsFolder, home.historyFolder])
        await removeFolder(join(each, id));
      await forgetHousehold(store.db, relay, id);
    } finally {
      await store.close();
    }
  } finally {
    await lock.release();
  }
  tell(`The household ${id} was removed. Its browsers keep what they have, and are signed out.`);
}
