import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Db } from '../../../server/store/index.ts';
import { schema } from '../../../server/store/steps/0001-schema.ts';
import { writeConfig } from '../../../server/team/gate/index.ts';
import { createStorePlace, STORES, type StorePlace } from '../../support/stores.ts';

describe.each(STORES)('the store on %s', (kind) => {
  let place: StorePlace;
  beforeEach(async () => {
    // Its steps are taken from the first one on.
    place = await createStorePlace(kind, { fresh: kind === 'postgres' });
  });
  afterEach(() => place.remove());

  it('keeps what was written when it is opened again, and migrates only once', async () => {
    const first = await place.open();
    await first.db
      .insertInto('logs')
      .values({ home: 'r', log: 'l', head: 7, acked: 3, made_at: 1_900_000_000_000 })
      .execute();
    await first.close();
    const second = await place.open();
    expect(await second.db.selectFrom('logs').selectAll().execute()).toEqual([
      { home: 'r', log: 'l', head: 7, acked: 3, made_at: 1_900_000_000_000 },
    ]);
    await second.close();
  });

  it('refuses a store that a newer Roost has used, in one line', async () => {
    const store = await place.open();
    await sql`insert into roost.kysely_migration (name, timestamp) values ('9999-from-the-future', '2999')`.execute(
      store.db,
    );
    await store.close();
    await expect(place.open()).rejects.toThrow(/^The store was last used by a newer Roost .*9999-from-the-future.*\.$/);
  });

  /** The tables as the first step alone has made them. */
  async function makeFirst(db: Db): Promise<void> {
    const { rows } = await sql<{ tablename: string }>`
      select tablename from pg_tables where schemaname = 'roost' and tablename not like 'kysely%'`.execute(db);
    for (const { tablename } of rows) await sql`drop table ${sql.id('roost', tablename)} cascade`.execute(db);
    await sql`drop function roost.config_counted, roost.wake_facts cascade`.execute(db);
    await sql`delete from roost.kysely_migration`.execute(db);
    await schema.up(db);
  }
  /** As a store was left whose steps had these names. */
  async function leaveAsBefore(steps: readonly string[]): Promise<void> {
    const store = await place.open();
    await makeFirst(store.db);
    await store.db.insertInto('logs').values({ home: 'r', log: 'l', head: 7, acked: 3, made_at: 1 }).execute();
    for (const name of steps)
      await sql`insert into roost.kysely_migration (name, timestamp) values (${name}, '2026')`.execute(store.db);
    await store.close();
  }
  const BEFORE = [
    '0001-first',
    ...Array.from({ length: 36 }, (_, n) => `${String(n + 2).padStart(4, '0')}-more`),
    '0038-server-questions',
  ];

  it('goes on with what the last Roost before 0.2 has left', async () => {
    await leaveAsBefore(BEFORE);
    for (let opened = 0; opened < 2; opened++) {
      const store = await place.open();
      expect(await store.db.selectFrom('logs').select('head').execute()).toEqual([{ head: 7 }]);
      const { rows } = await sql`select name from roost.kysely_migration`.execute(store.db);
      expect(rows.slice(0, 3)).toEqual([{ name: '0001-schema' }, { name: '0002-versions' }, { name: '0003-projects' }]);
      await store.close();
    }
  });

  it('counts versions from what an earlier Roost has stored, and keeps the count of decisions', async () => {
    const before = await place.open();
    await makeFirst(before.db);
    await sql`insert into roost.kysely_migration (name, timestamp) values ('0001-schema', '2026')`.execute(before.db);
    await sql`insert into roost.configs (home, scope, config_json, stamp, version) values
      ('r', 'household', '{}', '', 41), ('r', 'prices', '{"prices":[]}', null, 0)`.execute(before.db);
    await sql`
      insert into roost.schedules (home, schedule, agent_json, name_json, value_json, changes, position, judged_at)
      values ('r', 's', '"a"', '"n"', '{}', 6, 0, 0)`.execute(before.db);
    await before.close();
    const { db, close } = await place.open();
    const configs = () =>
      db
        .selectFrom('configs')
        .select(['scope', 'version', 'decisions'])
        .where('home', '=', 'r')
        .orderBy('scope')
        .execute();
    // Setting the prices counted the decisions on, then as now.
    expect(await configs()).toEqual([
      { scope: 'household', version: 0, decisions: 43 },
      { scope: 'prices', version: 1, decisions: 0 },
    ]);
    expect(await db.selectFrom('schedules').select('version').execute()).toEqual([{ version: 6 }]);
    const set = (scope: string, version?: number) =>
      writeConfig(db, { home: 'r', scope, config_json: '{"prices":[]}' }, version);
    expect([await set('prices', 0), await set('prices', 1), await set('prices', 1), await set('prices')]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect([await set('household', 1), await set('household', 0), await set('household', 0)]).toEqual([
      false,
      true,
      false,
    ]);
    expect((await configs()).map(({ scope, version }) => [scope, version])).toEqual([
      ['household', 1],
      ['prices', 3],
    ]);
    await close();
  });

  it('refuses what an earlier one has left, and changes nothing in it', async () => {
    await leaveAsBefore(BEFORE.slice(0, -1));
    for (let tries = 0; tries < 2; tries++)
      await expect(place.open()).rejects.toThrow(/^The store was made by a Roost before 0\.2 .* Use another --home: /);
  });

  it('rolls a failed transaction back whole and goes on', async () => {
    const store = await place.open();
    const row = { home: 'r', log: 'l', head: 0, acked: 0, made_at: 0 };
    const broken = store.db.transaction().execute(async (trx) => {
      await trx.insertInto('logs').values(row).execute();
      await trx.insertInto('logs').values(row).execute();
    });
    await expect(broken).rejects.toThrow(/duplicate key/);
    expect(await store.db.selectFrom('logs').selectAll().execute()).toEqual([]);
    await store.close();
  });

  it('keeps transactions apart that run at the same time', async () => {
    const store = await place.open();
    await store.db.insertInto('logs').values({ home: 'r', log: 'l', head: 0, acked: 0, made_at: 0 }).execute();
    const raise = () =>
      store.db.transaction().execute(async (trx) => {
        const { head } = await trx.selectFrom('logs').select('head').forUpdate().executeTakeFirstOrThrow();
        await trx
          .updateTable('logs')
          .set({ head: head + 1 })
          .execute();
      });
    await Promise.all(Array.from({ length: 20 }, raise));
    expect((await store.db.selectFrom('logs').select('head').executeTakeFirstOrThrow()).head).toBe(20);
    await store.close();
  });
});

describe('the embedded store', () => {
  let place: StorePlace;
  beforeEach(async () => {
    place = await createStorePlace('pglite', { fresh: true });
  });
  afterEach(() => place.remove());

  it('starts over where making it was cut off', { timeout: 90_000 }, async () => {
    await mkdir(`${place.folder}.making`);
    await writeFile(`${place.folder}.making/PG_VERSION`, '18\n');
    const store = await place.open();
    await store.close();
    expect(await readdir(`${place.folder}/..`)).toEqual(['store']);
  });

  it('says in one line that it cannot be opened', async () => {
    await writeFile(place.folder, 'not a folder');
    await expect(place.open()).rejects.toThrow(/^The store in .* cannot be opened: .+$/);
  });
});

describe('a database that does not answer', () => {
  it('is named by its setting, never by its address or password', async () => {
    const databaseUrl = 'postgres://someone:secret-word@127.0.0.1:9/nowhere';
    const error = await openStore({ folder: '/nowhere', databaseUrl }).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/^StoreError: The database that DATABASE_URL names cannot be used: .*ECONNREFUSED/);
    expect(String(error)).not.toContain('secret-word');
  });

  it('for a moment, in the middle of a transaction, ends that one and nothing else', async () => {
    const place = await createStorePlace('postgres');
    const store = await place.open();
    try {
      const cut = store.db.transaction().execute(async (trx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
        await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(store.db);
        // Nobody asks anything of the connection when it breaks.
        await new Promise((resolve) => setTimeout(resolve, 100));
        await sql`select 1`.execute(trx);
      });
      await expect(cut).rejects.toThrow();
      expect((await sql<{ one: number }>`select 1 as one`.execute(store.db)).rows).toEqual([{ one: 1 }]);
    } finally {
      await store.close();
      await place.remove();
    }
  });
});
