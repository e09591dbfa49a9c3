import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../server/store/index.ts';
import { createEntryStore, HouseholdFull } from '../../../server/sync/entry-store.ts';
import type { Entry, EntryStore, Have } from '../../../src/shared/protocol/sync/page.ts';
import { newSyncId } from '../../support/sync-device.ts';
import { createStorePlace, STORES, type StorePlace } from '../../support/stores.ts';

const WRITER = newSyncId();
const OTHER = newSyncId();
const sealedOf = (text: string) => new TextEncoder().encode(text);
const entry = (counter: number, text = `sealed ${counter}`, writer = WRITER): Entry => ({
  writer,
  counter,
  sealed: sealedOf(text),
});
const place = (counter: number, writer = WRITER) => ({ writer, counter });
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
const plain = (have: Have) =>
  Object.fromEntries([...have].map(([writer, ranges]) => [writer, ranges.map((range) => [...range])]));
const KEEP = { replace: false } as const;
const ALL = { newestFirst: false, maxBytes: 1_000_000 } as const;

describe.each(STORES)('sealed entries on %s', (kind) => {
  let where: StorePlace;
  let store: Store;
  beforeAll(async () => {
    where = await createStorePlace(kind);
    store = await where.open();
  });
  afterAll(async () => {
    await store.close();
    await where.remove();
  });

  async function household({ mostBytes = 1_000_000, id = newSyncId(), relay = 'relay' } = {}): Promise<EntryStore> {
    await store.db
      .insertInto('households')
      .values({ relay, household: id, epoch: 1, auth_key: 'key', made_at: 1, bytes: 0 })
      .execute();
    return createEntryStore({ db: store.db, relay, household: id, now: () => 1_900_000_000_000, mostBytes });
  }
  const bytesOf = async (id: string) =>
    (await store.db.selectFrom('households').select('bytes').where('household', '=', id).executeTakeFirstOrThrow())
      .bytes;

  it('stores entries byte for byte, and lists them by ranges', async () => {
    const entries = await household();
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const outcome = await entries.put(
      [{ ...place(1), sealed: bytes }, entry(2), entry(4), entry(7, 'seven', OTHER)],
      KEEP,
    );
    expect(outcome).toEqual({ stored: [place(1), place(2), place(4), place(7, OTHER)], conflicts: [], refused: [] });
    expect(plain(await entries.have())).toEqual({
      [WRITER]: [
        [1, 2],
        [4, 4],
      ],
      [OTHER]: [[7, 7]],
    });
    expect(await entries.read(WRITER, 1, 1, ALL)).toEqual([{ ...place(1), sealed: bytes }]);
    await entries.put([entry(3)], KEEP);
    expect(plain(await entries.have())[WRITER]).toEqual([[1, 4]]);
  });

  it('stores each entry once: the first bytes of a place stay, and others are a conflict', async () => {
    const id = newSyncId();
    const entries = await household({ id });
    await entries.put([entry(1, 'first')], KEEP);
    expect(
      await entries.put(
        [entry(1, 'first'), entry(2, 'one'), entry(2, 'one'), entry(3, 'one'), entry(3, 'other')],
        KEEP,
      ),
    ).toEqual({ stored: [place(2), place(3)], conflicts: [place(3)], refused: [] });
    expect(await entries.put([entry(1, 'changed')], KEEP)).toEqual({ stored: [], conflicts: [place(1)], refused: [] });
    expect(await entries.read(WRITER, 1, 9, ALL)).toEqual([entry(1, 'first'), entry(2, 'one'), entry(3, 'one')]);
    expect(await bytesOf(id)).toBe('firstoneone'.length);
  });

  it('overwrites entries in which something was forgotten', async () => {
    const id = newSyncId();
    const entries = await household({ id });
    await entries.put([entry(1, 'with a secret'), entry(2)], KEEP);
    const outcome = await entries.put([entry(1, 'without'), entry(2), entry(3, 'old'), entry(3, 'new')], {
      replace: true,
    });
    expect([...outcome.stored].sort((a, b) => a.counter - b.counter)).toEqual([place(1), place(3)]);
    expect(await entries.read(WRITER, 1, 9, ALL)).toEqual([entry(1, 'without'), entry(2), entry(3, 'new')]);
    expect(await bytesOf(id)).toBe('withoutsealed 2new'.length);
  });

  it('drops an entry only by the digest of its bytes', async () => {
    const id = newSyncId();
    const entries = await household({ id });
    await entries.put([entry(1, 'forged'), entry(2)], KEEP);
    expect(await entries.drop(place(1), digestOf('good'))).toBe(false);
    expect(await entries.drop(place(1, OTHER), digestOf('forged'))).toBe(false);
    expect(await entries.drop(place(1), digestOf('forged'))).toBe(true);
    expect(await entries.drop(place(1), digestOf('forged'))).toBe(false);
    expect(await entries.put([entry(1, 'good')], KEEP)).toMatchObject({ stored: [place(1)] });
    expect(await entries.read(WRITER, 1, 1, ALL)).toEqual([entry(1, 'good')]);
    expect(await bytesOf(id)).toBe('goodsealed 2'.length);
  });

  it('reads from either end within a budget of bytes, and at least one entry', async () => {
    const entries = await household();
    await entries.put(
      Array.from({ length: 9 }, (_, i) => entry(i + 1, String(i + 1).repeat(100))),
      KEEP,
    );
    const counters = async (newestFirst: boolean, maxBytes: number, [from, to] = [1, 9]) =>
      (await entries.read(WRITER, from ?? 0, to ?? 0, { newestFirst, maxBytes })).map(({ counter }) => counter);
    expect(await counters(false, 300)).toEqual([1, 2, 3]);
    expect(await counters(true, 399)).toEqual([9, 8, 7]);
    expect(await counters(true, 1)).toEqual([9]);
    expect(await counters(false, 1_000, [4, 6])).toEqual([4, 5, 6]);
    expect(await counters(false, 1_000, [10, 20])).toEqual([]);
    expect(await entries.read(OTHER, 1, 9, ALL)).toEqual([]);
  });

  it('keeps entries of each household and relay apart', async () => {
    const id = newSyncId();
    const one = await household({ id });
    const other = await household();
    const elsewhere = await household({ id, relay: 'another' });
    await one.put([entry(1)], KEEP);
    for (const entries of [other, elsewhere]) {
      expect(plain(await entries.have())).toEqual({});
      expect(await entries.read(WRITER, 1, 9, ALL)).toEqual([]);
      expect(await entries.drop(place(1), digestOf('sealed 1'))).toBe(false);
    }
  });

  it('refuses entries of a full household whole, and keeps what is there', async () => {
    const id = newSyncId();
    const entries = await household({ id, mostBytes: 20 });
    await entries.put([entry(1, '0123456789')], KEEP);
    await expect(entries.put([entry(2, '0123456789'), entry(3, 'x')], KEEP)).rejects.toThrow(HouseholdFull);
    expect(plain(await entries.have())).toEqual({ [WRITER]: [[1, 1]] });
    await entries.put([entry(2, '0123456789')], KEEP);
    await expect(entries.put([entry(1, '0123456789+')], { replace: true })).rejects.toThrow(
      /has no more room .*--household-gb/,
    );
    await entries.put([entry(1, 'less')], { replace: true });
    await entries.put([entry(3, '012345')], KEEP);
    expect(await bytesOf(id)).toBe(20);
  });

  it('stores an entry once that arrives several times at once', async () => {
    const id = newSyncId();
    const entries = await household({ id });
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, i) => entries.put([entry(1, `from ${i}`), entry(2, 'the same')], KEEP)),
    );
    expect(outcomes.flatMap(({ stored }) => stored)).toHaveLength(2);
    expect(outcomes.flatMap(({ conflicts }) => conflicts)).toHaveLength(7);
    expect(await bytesOf(id)).toBe('from 0the same'.length);
  });

  it('returns many large entries unchanged', async () => {
    const entries = await household({ mostBytes: 100_000_000 });
    const large = new Uint8Array(17_000_000).fill(7);
    const many = Array.from({ length: 1_000 }, (_, i) => entry(i + 2));
    await entries.put([{ ...place(1), sealed: large }, ...many], KEEP);
    expect(plain(await entries.have())).toEqual({ [WRITER]: [[1, 1_001]] });
    const [first] = await entries.read(WRITER, 1, 1, { newestFirst: false, maxBytes: 1 });
    expect(Buffer.compare(first?.sealed ?? new Uint8Array(), large)).toBe(0);
    expect(await entries.read(WRITER, 2, 1_001, ALL)).toEqual(many);
  });

  it('behaves like a map from places to first bytes, whatever is put, replaced and dropped', async () => {
    const text = fc.constantFrom('a', 'bb', 'ccc');
    const given = fc.array(fc.record({ counter: fc.integer({ min: 1, max: 6 }), text }), { maxLength: 4 });
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('put' as const, 'replace' as const), given }),
      fc.record({ kind: fc.constant('drop' as const), counter: fc.integer({ min: 1, max: 6 }), text }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const id = newSyncId();
        const entries = await household({ id });
        const model = new Map<number, string>();
        for (const each of steps) {
          if (each.kind === 'drop') {
            expect(await entries.drop(place(each.counter), digestOf(each.text))).toBe(
              model.get(each.counter) === each.text,
            );
            if (model.get(each.counter) === each.text) model.delete(each.counter);
            continue;
          }
          await entries.put(
            each.given.map((one) => entry(one.counter, one.text)),
            { replace: each.kind === 'replace' },
          );
          for (const one of each.given)
            if (each.kind === 'replace' || !model.has(one.counter)) model.set(one.counter, one.text);
        }
        const expected = [...model].sort(([a], [b]) => a - b).map(([counter, words]) => entry(counter, words));
        expect(await entries.read(WRITER, 1, 9, ALL)).toEqual(expected);
        const counters = [...(await entries.have()).values()]
          .flat()
          .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
        expect(counters).toEqual(expected.map(({ counter }) => counter));
        expect(await bytesOf(id)).toBe(expected.reduce((sum, { sealed }) => sum + sealed.length, 0));
      }),
      { numRuns: 25 },
    );
  });
});
