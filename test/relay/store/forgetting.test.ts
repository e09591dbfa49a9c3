import { expect, it } from 'vitest';
import { FORGETTING } from '../../../server/store/forgetting.ts';
import { storeFor } from '../../support/store-for.ts';

const store = storeFor();

/** Kysely's own, which say what steps the store has taken. */
const isOwn = (name: string) => name.startsWith('kysely_') || name === 'steps' || name === 'steps_lock';

it('says for every table of the store what forgetting does to it, with existing columns', async () => {
  const tables = (await store().db.introspection.getTables()).filter(({ name }) => !isOwn(name));
  expect(tables.map(({ name }) => name).toSorted()).toEqual(Object.keys(FORGETTING).toSorted());
  const columns = new Map(tables.map(({ name, columns }) => [name, new Set(columns.map((each) => each.name))]));
  for (const [table, fate] of Object.entries(FORGETTING))
    for (const rule of Object.values(fate)) {
      if (rule.rows === 'deleted') expect(columns.get(table), table).toContain(rule.by);
      if (rule.rows !== 'deleted-with') continue;
      expect(columns.get(table), table).toContain(rule.on[0]);
      expect(columns.get(rule.of), rule.of).toContain(rule.on[1]);
    }
});

it('says for every table of a household how its rows are removed with it', () => {
  const stays = Object.entries(FORGETTING).flatMap(([table, { household }]) =>
    household.rows === 'stay' ? table : [],
  );
  expect(stays).toEqual(['codes']);
});
