import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { SYNC } from '../../../src/shared/protocol/sync/settings.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../support/open-relay.ts';
import { USUAL_STORES } from '../../support/stores.ts';

const newOffer = () => `/api/sync/offers/${randomBytes(32).toString('base64url')}`;
const put = (browser: Browser, path: string, data?: string) =>
  browser.fetch(path, { method: 'PUT', ...(data === undefined ? {} : { json: { data } }) });
const typeOf = async (response: Response) => [
  response.status,
  problemSchema.parse(await response.json()).type.replace('about:roost/', ''),
];

describe.each(USUAL_STORES)('an offer to join, with the store on %s', (kind) => {
  let relay: OpenRelay;
  /** Of the device that wants to join, and of the one that lets it in. */
  let joins: Browser;
  let lets: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({ store: kind });
    [joins, lets] = [await relay.signIn(), await relay.signIn()];
  });
  afterAll(() => relay.close());

  // SPEC 9.4
  it('takes what two devices say to each other, once each, and gives it back as it is', async () => {
    const offer = newOffer();
    const made = await put(joins, offer);
    expect(made.status).toBe(200);
    const { until }: { until: number } = await made.json();
    expect(until).toBeGreaterThan(Date.now() + SYNC.offerMs - 60_000);
    expect((await joins.fetch(`${offer}/invitation`)).status, 'nothing lies there yet').toBe(204);
    expect((await put(lets, `${offer}/invitation`, 'a_key-of_32')).status).toBe(204);
    expect(await (await joins.fetch(`${offer}/invitation`)).json()).toEqual({ data: 'a_key-of_32' });
    expect(
      (await put(lets, `${offer}/invitation`, 'a_key-of_32')).status,
      'sent again, because the answer was lost',
    ).toBe(204);
    expect(await typeOf(await put(lets, `${offer}/invitation`, 'another'))).toEqual([409, 'slot-taken']);
    expect(await (await joins.fetch(`${offer}/invitation`)).json()).toEqual({ data: 'a_key-of_32' });
    const large = randomBytes((SYNC.slotChars / 4) * 3).toString('base64url');
    expect((await put(lets, `${offer}/welcome`, large)).status).toBe(204);
    expect(await (await joins.fetch(`${offer}/welcome`)).json()).toEqual({ data: large });
    expect((await put(joins, `${offer}/joined`, '')).status).toBe(204);
    expect((await put(joins, offer)).status, 'made again while it is there').toBe(200);
  });

  it('accepts one answer when two devices answer at once', async () => {
    const offer = newOffer();
    await put(joins, offer);
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => (await put(lets, `${offer}/invitation`, `device-${i}`)).status),
    );
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(7);
  });

  // SPEC 9.4
  it('deletes an offer with its contents after five minutes, and does not accept it again', async () => {
    const offer = newOffer();
    await put(joins, offer);
    await put(lets, `${offer}/invitation`, 'key');
    relay.pass(SYNC.offerMs - 10_000);
    expect((await joins.fetch(`${offer}/invitation`)).status).toBe(200);
    relay.pass(11_000);
    for (const answer of [
      await joins.fetch(`${offer}/invitation`),
      await put(lets, `${offer}/welcome`, 'keys'),
      await put(joins, offer),
    ])
      expect(await typeOf(answer)).toEqual([410, 'offer-gone']);
  });

  it('deletes an offer when it was used', async () => {
    const offer = newOffer();
    await put(joins, offer);
    await put(lets, `${offer}/invitation`, 'key');
    expect((await lets.fetch(offer, { method: 'DELETE' })).status).toBe(204);
    expect((await joins.fetch(offer, { method: 'DELETE' })).status).toBe(204);
    for (const answer of [
      await joins.fetch(`${offer}/invitation`),
      await put(lets, `${offer}/welcome`, 'keys'),
      await put(joins, offer),
    ])
      expect(await typeOf(answer)).toEqual([410, 'offer-gone']);
  });

  it('refuses an unknown or invalid offer', async () => {
    expect(await typeOf(await put(lets, `${newOffer()}/invitation`, 'key'))).toEqual([404, 'no-offer']);
    expect(await typeOf(await joins.fetch(`${newOffer()}/welcome`))).toEqual([404, 'no-offer']);
    expect(await typeOf(await put(joins, '/api/sync/offers/short'))).toEqual([404, 'no-offer']);
    const offer = newOffer();
    await put(joins, offer);
    expect(await typeOf(await put(lets, `${offer}/other`, 'key'))).toEqual([404, 'no-slot']);
    expect(await typeOf(await put(lets, `${offer}/welcome`, 'not base64url!'))).toEqual([400, 'misfit']);
    expect(await typeOf(await put(lets, `${offer}/welcome`, 'a'.repeat(SYNC.slotChars + 1)))).toEqual([400, 'misfit']);
    expect(
      await typeOf(
        await put({ ...lets, fetch: (path, init) => fetch(new URL(path, relay.url), { ...init, body: null }) }, offer),
      ),
    ).toEqual([401, 'not-signed-in']);
  });

  it('limits the number of offers', async () => {
    relay.pass(SYNC.offerMs);
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) statuses.push((await put(joins, newOffer())).status);
    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(429);
    relay.pass(SYNC.offerMs);
    expect((await put(joins, newOffer())).status).toBe(200);
  });
});
