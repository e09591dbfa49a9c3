import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Migration, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STORE_FILE } from '../../../server/store/embedded.ts';
import { isUnstorable, migrate, MIGRATIONS, openStore, runTogether } from '../../../server/store/index.ts';
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
    await sql`insert into ${sql.table('roost.kysely_migration')} (name, timestamp) values ('9999-from-the-future', '2999')`.execute(
      store.db,
    );
    await store.close();
    await expect(place.open()).rejects.toThrow(/^The store was last used by a newer Roost .*9999-from-the-future.*\.$/);
  });

  it('takes a later step with its rows in place, and none of a step that fails', async () => {
    const store = await place.open();
    await store.db.insertInto('logs').values({ home: 'r', log: 'l', head: 7, acked: 3, made_at: 1 }).execute();
    const isThere = async () => {
      const { rows } = await sql`select * from ${sql.table('roost.logs')}`.execute(store.db);
      return rows;
    };
    const later: Migration = {
      async up(db) {
        await db.schema.withSchema('roost').alterTable('logs').addColumn('note', 'text').execute();
      },
    };
    const broken: Migration = {
      async up(db) {
        await db.schema.withSchema('roost').alterTable('logs').addColumn('other', 'text').execute();
        throw new Error('broken in the middle');
      },
    };
    const plain = store.db.withoutPlugins();
    await migrate(plain, { ...MIGRATIONS, '0008-later': later });
    const row = { home: 'r', log: 'l', head: 7, acked: 3, made_at: 1, note: null };
    expect(await isThere()).toEqual([row]);
    await expect(migrate(plain, { ...MIGRATIONS, '0008-later': later, '0009-broken': broken })).rejects.toThrow(
      'broken in the middle',
    );
    expect(await isThere()).toEqual([row]);
    await store.close();
    await expect(place.open()).rejects.toThrow(/does not know its step 0008-later/);
  });

  it('refuses the store of a Roost that was never released, and changes nothing in it', async () => {
    const store = await place.open();
    const steps = sql.table('roost.kysely_migration');
    await sql`update ${steps} set name = '0001-schema' where name = '0001-tables'`.execute(store.db);
    await store.close();
    for (let tries = 0; tries < 2; tries++)
      await expect(place.open()).rejects.toThrow(/^The store was made by a Roost before 0\.3\. Use another database/);
  });

  it('counts the changes of settings, and the decisions in the row of the household', async () => {
    const { db, close } = await place.open();
    const configs = () =>
      db
        .selectFrom('configs')
        .select(['scope', 'version', 'decisions'])
        .where('home', '=', 'r')
        .orderBy('scope')
        .execute();
    const set = (scope: string, version?: number) =>
      writeConfig(db, { home: 'r', scope, config_json: '{"prices":[]}' }, version);
    expect(await set('prices')).toBe(true);
    // The row of the household is there to count on. Nothing is set in it.
    expect(await configs()).toEqual([
      { scope: 'household', version: 0, decisions: 1 },
      { scope: 'prices', version: 1, decisions: 0 },
    ]);
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
    expect(await configs()).toEqual([
      { scope: 'household', version: 1, decisions: expect.any(Number) },
      { scope: 'prices', version: 3, decisions: 0 },
    ]);
    await close();
  });

  it('returns booleans and bytes as they were written, from a query and from a change', async () => {
    const { db, close } = await place.open();
    const agent = { home: 'r', agent_json: 'a', name_json: 'n', position: null, retired: true };
    expect(await db.insertInto('agents').values(agent).returningAll().execute()).toEqual([agent]);
    expect(await db.selectFrom('agents').selectAll().where('retired', '=', true).execute()).toEqual([agent]);
    expect(await db.selectFrom('agents').selectAll().where('retired', '=', false).execute()).toEqual([]);
    const sealed = new Uint8Array([0, 1, 255]);
    await db.insertInto('agent_programs').values({ home: 'r', program: 'p', sealed, made_at: 1 }).execute();
    const row = await db.selectFrom('agent_programs').select('sealed').executeTakeFirstOrThrow();
    expect(Buffer.compare(row.sealed, sealed)).toBe(0);
    await close();
  });

  it('refuses a text with the character NUL, which it could not return', async () => {
    const { db, close } = await place.open();
    const write = db.insertInto('logs').values({ home: 'r\u0000s', log: 'l', head: 0, acked: 0, made_at: 0 }).execute();
    expect(isUnstorable(await write.catch((error: unknown) => error))).toBe(true);
    await close();
  });

  it('shows a reader outside of a transaction nothing of what is undone in it', async () => {
    const { db, close } = await place.open();
    let reading: Promise<unknown> | undefined;
    const undone = db.transaction().execute(async (trx) => {
      await trx.insertInto('logs').values({ home: 'r', log: 'l', head: 0, acked: 0, made_at: 0 }).execute();
      reading = db.selectFrom('logs').selectAll().execute();
      await trx.selectFrom('logs').selectAll().execute();
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await reading).toEqual([]);
    await close();
  });

  it('stores each of many writes that wait together, and refuses the one that fails alone', async () => {
    const { db, close } = await place.open();
    const write = (n: number) =>
      db
        .insertInto('taken')
        .values({ log: 'l', client_json: `${n % 50}`, event_id: n })
        .execute();
    const outcomes = await Promise.allSettled(Array.from({ length: 51 }, (_none, n) => write(n)));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await db.selectFrom('taken').selectAll().execute()).toHaveLength(50);
    await close();
  });

  it('rolls a failed transaction back whole and goes on', async () => {
    const store = await place.open();
    const row = { home: 'r', log: 'l', head: 0, acked: 0, made_at: 0 };
    const broken = store.db.transaction().execute(async (trx) => {
      await trx.insertInto('logs').values(row).execute();
      await trx.insertInto('logs').values(row).execute();
    });
    await expect(broken).rejects.toThrow(/duplicate key|UNIQUE constraint/);
    expect(await store.db.selectFrom('logs').selectAll().execute()).toEqual([]);
    await store.close();
  });

  it('runs all of the statements that are sent together, or none, whoever waits beside them', async () => {
    const { db, close } = await place.open();
    const log = (home: string) =>
      db.insertInto('logs').values({ home, log: home, head: 0, acked: 0, made_at: 0 }).returning('home');
    const outcomes = await Promise.allSettled([
      runTogether(db, [log('a'), log('b')]),
      runTogether(db, [log('c'), log('a'), log('d')]),
      log('e').execute(),
      runTogether(db, [log('f')]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(outcomes[0]).toMatchObject({ value: [1, 1] });
    expect(outcomes[1]).toMatchObject({
      reason: { message: expect.stringMatching(/duplicate key|UNIQUE constraint/) },
    });
    const undone = db.transaction().execute(async (trx) => {
      await runTogether(trx, [trx.deleteFrom('logs')]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    const rows = await db.selectFrom('logs').select('home').orderBy('home').execute();
    expect(rows.map(({ home }) => home)).toEqual(['a', 'b', 'e', 'f']);
    await close();
  });

  it('runs nothing of what is sent together where the first changes no row and has to', async () => {
    const { db, close } = await place.open();
    const move = (from: number) => db.updateTable('logs').set({ head: 5 }).where('head', '=', from);
    const taken = db.insertInto('taken').values({ log: 'l', client_json: '1', event_id: 1 });
    await db.insertInto('logs').values({ home: 'r', log: 'l', head: 0, acked: 0, made_at: 0 }).execute();
    expect(await runTogether(db, [move(1), taken], { ifFirstChanges: true })).toBeNull();
    expect(await db.selectFrom('taken').selectAll().execute()).toEqual([]);
    expect(await runTogether(db, [move(0), taken], { ifFirstChanges: true })).toEqual([1, 1]);
    expect(await db.selectFrom('taken').selectAll().execute()).toHaveLength(1);
    await close();
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
    place = await createStorePlace('sqlite', { fresh: true });
  });
  afterEach(() => place.remove());

  it('says in one line that it cannot be opened', async () => {
    await writeFile(place.folder, 'not a folder');
    await expect(place.open()).rejects.toThrow(/^The store in .* cannot be opened: .+$/);
  });

  it('says in one line that its file is damaged, and what to do', async () => {
    await mkdir(place.folder);
    await writeFile(join(place.folder, STORE_FILE), 'no database at all '.repeat(500));
    await expect(place.open()).rejects.toThrow(/^The store in .* cannot be opened: .* The file is damaged\. Move .+$/);
  });

  it('finds a damaged page when it was not closed in good order', async () => {
    await (await place.open()).close();
    const file = join(place.folder, STORE_FILE);
    const bytes = await readFile(file);
    // The second page and those after it have tables. The first has their names.
    for (let page = 4096; page < bytes.length; page += 4096) bytes.fill(0xff, page, page + 64);
    await writeFile(file, bytes);
    await writeFile(`${file}-wal`, '');
    await expect(place.open()).rejects.toThrow(/^The store in .* cannot be opened: .* The file is damaged\. Move .+$/);
  });

  it('says that another program has it open', async () => {
    const first = await place.open();
    await expect(place.open()).rejects.toThrow(/Another program has the file open\. End it first\.$/);
    await first.close();
  });

  it('puts a store of PGlite aside, unchanged, each under a name of its own', async () => {
    const aside: string[] = [];
    for (const version of ['17', '18']) {
      await rm(place.folder, { recursive: true, force: true });
      await mkdir(place.folder);
      await writeFile(join(place.folder, 'PG_VERSION'), version);
      const store = await openStore({ ...place, onSetAside: (path) => aside.push(path) });
      expect(await store.db.selectFrom('logs').selectAll().execute()).toEqual([]);
      await store.close();
    }
    expect(aside).toEqual([`${place.folder}-before-sqlite`, `${place.folder}-before-sqlite-2`]);
    expect(await Promise.all(aside.map((path) => readFile(join(path, 'PG_VERSION'), 'utf8')))).toEqual(['17', '18']);
  });
});

describe('a database that does not answer', () => {
  it('names the setting of an unreachable database, and never its address or password', async () => {
    const databaseUrl = 'postgres://someone:secret-word@127.0.0.1:9/nowhere';
    const error = await openStore({ folder: '/nowhere', databaseUrl }).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/^StoreError: The database that DATABASE_URL names cannot be used: .*ECONNREFUSED/);
    expect(String(error)).not.toContain('secret-word');
  });

  it('fails only the transaction during which the database was away', async () => {
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
