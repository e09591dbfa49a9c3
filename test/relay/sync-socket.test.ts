import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { STORES } from '../support/stores.ts';
import { enter, newTestDevice, newTestHousehold } from '../support/sync-device.ts';

describe.each(STORES)('the sync socket, with the store on %s', (kind) => {
  let relay: TestRelay;
  let database: TestDatabase | null = null;
  beforeAll(async () => {
    database = kind === 'postgres' ? await createDatabase() : null;
    relay = await startRelay(database ? { databaseUrl: database.url } : {});
  });
  afterAll(async () => {
    const { code, stderr } = await relay.stop();
    await database?.drop();
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('lets a device in that was registered and proves itself, and tells it who there is', async () => {
    const [household, one, other] = [newTestHousehold(), newTestDevice(), newTestDevice()];
    const first = await enter(relay, household, one);
    expect(first.welcome).toMatchObject({ epoch: 1, box: null, recoveryId: null, devices: [{ device: one.id, online: true }] });
    const second = await enter(relay, household, other);
    expect(second.welcome.devices.map(({ device, online }) => [device, online])).toEqual([[one.id, true], [other.id, true]]);
    await expect.poll(() => first.heard.at(-1)).toMatchObject({ kind: 'devices', devices: [{ device: one.id }, { device: other.id, online: true }] });
    await second.close();
    await expect.poll(() => first.heard.at(-1)).toMatchObject({ kind: 'devices', devices: [{ online: true }, { device: other.id, online: false }] });
    await first.close();
  });
});
