import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../support/open-relay.ts';
import { USUAL_STORES } from '../../support/stores.ts';
import {
  boxOf,
  enter,
  hello,
  newTestDevice,
  newTestHousehold,
  newTestKey,
  recoveryOf,
  register,
  registrationOf,
  renew,
  type TestHousehold,
} from '../../support/sync-device.ts';

const problemOf = async (response: Response) => {
  const { type, status, ...rest } = problemSchema.parse(await response.json());
  return { ...rest, status, type: type.replace('about:roost/', '') };
};
const newRecovery = () => ({ id: newTestKey().publicKey, box: Buffer.from('the keys, sealed').toString('base64url') });

describe.each(USUAL_STORES)('the devices of a household, with the store on %s', (kind) => {
  let relay: OpenRelay;
  let home: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({ args: ['--households', '1000'], store: kind });
    home = await relay.signIn();
  });
  afterAll(() => relay.close());
  const refused = async (...args: Parameters<typeof register> extends [unknown, ...infer Rest] ? Rest : never) => {
    // So that one test does not use up what another may try.
    relay.pass(600_000);
    const response = await register(home, ...args);
    expect(response.status).toBeGreaterThanOrEqual(400);
    return await problemOf(response);
  };

  // SPEC 13.2
  it('register with the household’s key, as often as they like', async () => {
    const [household, device] = [newTestHousehold(), newTestDevice()];
    for (let again = 0; again < 2; again++) {
      const response = await register(home, household, device);
      expect([response.status, await response.json()]).toEqual([200, { epoch: 1 }]);
    }
    const line = await enter(home, household, device);
    expect(line.welcome.devices).toHaveLength(1);
    await line.close();
  });

  // SPEC 2.2, 13.2
  it('refuses a device with another key, for another device, household or epoch, or under a used id', async () => {
    const [household, device] = [newTestHousehold(), newTestDevice()];
    await register(home, household, newTestDevice());
    const stranger: TestHousehold = { ...newTestHousehold(), id: household.id };
    expect(await refused(stranger, device)).toMatchObject({ status: 409, type: 'other-household' });
    expect(
      await refused({ ...stranger, authKey: { ...stranger.authKey, publicKey: household.authKey.publicKey } }, device),
    ).toMatchObject({ status: 403, type: 'bad-proof' });
    const { proof } = registrationOf(household, newTestDevice());
    expect(await refused(household, device, { proof })).toMatchObject({ status: 403, type: 'bad-proof' });
    expect(await refused({ ...household, epoch: 2 }, device)).toMatchObject({ status: 409, type: 'bad-rotations' });
    const line = await hello(home, household, device);
    await line.next('unknown');
    await register(home, household, device);
    expect(await refused(household, { ...newTestDevice(), id: device.id })).toMatchObject({
      status: 403,
      type: 'bad-proof',
    });
  });

  it.each([
    ['no body', {}],
    ['a key that is none', { authKey: 'short' }],
    ['an epoch that is none', { epoch: 0 }],
    ['a member that there is not', { name: 'Laptop' }],
  ])('refuses a device registered by %s', async (_what, changed) => {
    const household = newTestHousehold();
    const json =
      'authKey' in changed || 'epoch' in changed || 'name' in changed
        ? { ...registrationOf(household, newTestDevice()), ...changed }
        : changed;
    expect((await home.fetch(`/api/sync/households/${household.id}`, { method: 'PUT', json })).status).toBe(400);
    expect((await home.fetch('/api/sync/households/short', { method: 'PUT', json })).status).toBe(404);
  });

  // SPEC 3.8
  it('gives remaining devices new keys on a removal, and ends the removed one at once and for good', async () => {
    const household = newTestHousehold();
    const [one, other, gone] = [newTestDevice(), newTestDevice(), newTestDevice()];
    const [thief, away] = [await relay.signIn(), await relay.signIn()];
    const first = await enter(home, household, one);
    const second = await enter(away, household, other);
    const third = await enter(thief, household, gone);
    const events = await thief.fetch('/api/events');
    const reader = events.body?.getReader();
    const next = renew(household, { removed: [gone], stay: [one, other] });
    first.send({ kind: 'rotate', rotation: next.rotation });
    expect(await third.next('removed')).toEqual({ kind: 'removed' });
    expect(await third.closed).toBe(1008);
    for (const [line, { id }] of [
      [first, one],
      [second, other],
    ] as const) {
      expect(await line.next('rotated')).toEqual({ kind: 'rotated', epoch: 2, box: boxOf(id, 2) });
      expect((await line.next('devices')).devices.map(({ device }) => device).sort()).toEqual(
        [one.id, other.id].sort(),
      );
    }
    // Its sign-in is over, and so is what hung on it.
    for (let end = false; !end;) end = (await reader?.read())?.done ?? true;
    expect((await thief.fetch('/api/rehearsal')).status).toBe(401);
    expect((await away.fetch('/api/rehearsal')).status).toBe(200);
    // With another sign-in it is still out, whichever key it brings.
    expect(await refused(household, gone)).toMatchObject({ status: 403, type: 'device-removed' });
    expect(await refused(next, gone)).toMatchObject({ status: 403, type: 'device-removed' });
    await (await hello(home, household, gone)).next('removed');
    // And what it knows lets nobody else in.
    expect(await refused(household, newTestDevice())).toMatchObject({
      status: 403,
      type: 'old-key',
      epoch: 2,
      box: null,
    });
    expect((await register(home, next, newTestDevice())).status).toBe(200);
    await second.close();
    const again = await enter(away, next, other);
    expect(again.welcome).toMatchObject({ epoch: 2, box: boxOf(other.id, 2) });
    for (const line of [first, again]) await line.close();
  });

  it('keep their sign-in where one that stays uses the same', async () => {
    const [household, one, gone] = [newTestHousehold(), newTestDevice(), newTestDevice()];
    const browser = await relay.signIn();
    const before = await enter(browser, household, gone);
    const line = await enter(browser, household, one);
    line.send({ kind: 'rotate', rotation: renew(household, { removed: [gone], stay: [one] }).rotation });
    await before.next('removed');
    expect((await browser.fetch('/api/rehearsal')).status).toBe(200);
    await line.close();
  });

  it('forgets devices that got no key in a rotation, and readmits those that know the key', async () => {
    const [household, one, forgotten] = [newTestHousehold(), newTestDevice(), newTestDevice()];
    const first = await enter(home, household, one);
    const second = await enter(home, household, forgotten);
    const next = renew(household, { stay: [] });
    first.send({ kind: 'rotate', rotation: next.rotation });
    await first.next('rotated');
    await second.next('unknown');
    expect(await second.closed).toBe(1008);
    expect((await register(home, household, forgotten)).status).toBe(403);
    expect((await register(home, next, forgotten)).status).toBe(200);
    await first.close();
  });

  it('accepts one of two simultaneous rotations, and gives the other device its keys', async () => {
    const [household, one, other] = [newTestHousehold(), newTestDevice(), newTestDevice()];
    const lines = [await enter(home, household, one), await enter(home, household, other)] as const;
    const rotations = [renew(household, { stay: [one, other] }), renew(household, { stay: [one, other] })] as const;
    lines.forEach((line, i) => line.send({ kind: 'rotate', rotation: (rotations[i] ?? rotations[0]).rotation }));
    const answers = await Promise.all(
      lines.map(async (line, i) => {
        await expect.poll(() => line.heard.some(({ kind }) => kind === 'rotated')).toBe(true);
        line.send({ kind: 'ping' });
        await expect.poll(() => line.heard.some(({ kind }) => kind === 'pong')).toBe(true);
        return {
          i,
          refused: line.heard.find(({ kind }) => kind === 'refused'),
          last: line.heard.filter(({ kind }) => kind === 'rotated').at(-1),
        };
      }),
    );
    const late = answers.filter(({ refused: why }) => why);
    expect(late).toHaveLength(1);
    expect(late[0]?.refused).toMatchObject({ what: 'rotate', reason: expect.stringContaining('first') });
    expect(late[0]?.last).toMatchObject({ epoch: 2, box: boxOf(late[0]?.i === 0 ? one.id : other.id, 2) });
    const won = rotations[late[0]?.i === 0 ? 1 : 0];
    expect((await register(home, won, newTestDevice())).status).toBe(200);
    // The same again, because the answer was lost: no harm.
    const again = lines[late[0]?.i === 0 ? 1 : 0];
    again.heard.length = 0;
    again.send({ kind: 'rotate', rotation: won.rotation });
    again.send({ kind: 'ping' });
    await again.next('pong');
    expect(again.heard.filter(({ kind }) => kind === 'refused')).toEqual([]);
    for (const line of lines) await line.close();
  });

  it('cuts off devices that rotate without the previous key, and changes nothing', async () => {
    const [household, one, other] = [newTestHousehold(), newTestDevice(), newTestDevice()];
    const first = await enter(home, household, one);
    const second = await enter(home, household, other);
    const forged = renew({ ...newTestHousehold(), id: household.id }, { removed: [one], stay: [other] });
    second.send({ kind: 'rotate', rotation: forged.rotation });
    expect(await second.next('refused')).toMatchObject({
      what: 'rotate',
      reason: expect.stringContaining('did not sign'),
    });
    expect(await second.closed).toBe(1008);
    const skipping = renew(renew(household)).rotation;
    first.send({ kind: 'rotate', rotation: skipping });
    expect(await first.next('refused')).toMatchObject({ what: 'rotate' });
    // Whom the key removes is part of what it signed.
    const { rotation } = renew(household, { stay: [one, other] });
    first.send({ kind: 'rotate', rotation: { ...rotation, removed: [other.id] } });
    expect(await first.next('refused')).toMatchObject({ what: 'rotate' });
    expect(await first.closed).toBe(1008);
    const again = await enter(home, household, one);
    expect(again.welcome).toMatchObject({ epoch: 1, box: null });
    expect(again.welcome.devices).toHaveLength(2);
    await again.close();
  });

  it('bring the rotations that a relay from an older copy lacks, and whoever was removed by them is out there too', async () => {
    const household = newTestHousehold();
    const [one, gone, later] = [newTestDevice(), newTestDevice(), newTestDevice()];
    const third = await enter(home, household, gone);
    const first = await enter(home, household, one);
    // Elsewhere time went on: two rotations of which this relay knows nothing.
    const second = renew(household, { removed: [gone], stay: [one, later] });
    const now = renew(second, { stay: [one, later] });
    expect(await refused({ ...now, rotations: now.rotations.slice(1) }, one)).toMatchObject({
      status: 409,
      type: 'bad-rotations',
    });
    expect(
      await refused(
        { ...now, rotations: [second.rotation, renew({ ...newTestHousehold(), id: household.id, epoch: 2 }).rotation] },
        one,
      ),
    ).toMatchObject({ status: 409, type: 'bad-rotations' });
    expect(third.heard.filter(({ kind }) => kind === 'removed')).toEqual([]);
    const response = await register(home, now, one);
    expect([response.status, await response.json()]).toEqual([200, { epoch: 3 }]);
    await third.next('removed');
    expect(await first.next('rotated')).toEqual({ kind: 'rotated', epoch: 3, box: boxOf(one.id, 3) });
    // One that the older copy had never seen has the key before only: its box is waiting for it.
    expect(await refused(household, later)).toMatchObject({
      status: 403,
      type: 'old-key',
      epoch: 3,
      box: boxOf(later.id, 3),
    });
    expect((await register(home, now, later)).status).toBe(200);
    expect(await refused(household, gone)).toMatchObject({ type: 'device-removed' });
    await first.close();
  });

  it('make a household known to a relay that has lost everything, with all that it has been through', async () => {
    const [one, gone] = [newTestDevice(), newTestDevice()];
    const now = renew(renew(newTestHousehold(), { removed: [gone], stay: [one] }), { stay: [one] });
    const line = await enter(home, now, one);
    expect(line.welcome).toMatchObject({ epoch: 3, box: boxOf(one.id, 3) });
    await line.close();
    expect(await refused(now, gone)).toMatchObject({ status: 403, type: 'device-removed' });
    const broken = renew(renew(newTestHousehold()));
    expect(await refused({ ...broken, authKey: newTestKey() }, one)).toMatchObject({
      status: 409,
      type: 'bad-rotations',
    });
  });

  it('keep a recovery box, which whoever has its id can ask for', async () => {
    const [household, device, recovery] = [newTestHousehold(), newTestDevice(), newRecovery()];
    const line = await enter(home, household, device);
    line.send(recoveryOf(household, recovery));
    expect(await line.next('recovery-kept')).toEqual({ kind: 'recovery-kept', recoveryId: recovery.id });
    const found = await home.fetch(`/api/sync/recoveries/${recovery.id}`);
    expect([found.status, await found.json()]).toEqual([200, { household: household.id, epoch: 1, box: recovery.box }]);
    expect((await home.fetch(`/api/sync/recoveries/${newRecovery().id}`)).status).toBe(404);
    // A rotation brings the new keys along.
    const renewed = { id: recovery.id, box: Buffer.from('new keys, sealed').toString('base64url') };
    const next = renew(household, { stay: [device], recovery: renewed });
    line.send({ kind: 'rotate', rotation: next.rotation });
    await line.next('rotated');
    expect(await (await home.fetch(`/api/sync/recoveries/${recovery.id}`)).json()).toEqual({
      household: household.id,
      epoch: 2,
      box: renewed.box,
    });
    // Another phrase takes its place.
    const other = newRecovery();
    line.send(recoveryOf(next, other));
    await line.next('recovery-kept');
    expect((await home.fetch(`/api/sync/recoveries/${recovery.id}`)).status).toBe(404);
    // Nobody else can have it.
    const stranger = newTestHousehold();
    const thief = await enter(home, stranger, newTestDevice());
    thief.send(recoveryOf(stranger, other));
    expect(await thief.next('refused')).toMatchObject({ what: 'recovery' });
    // A key that counts no more sets nothing.
    line.send(recoveryOf(household, newRecovery()));
    expect(await line.next('refused')).toMatchObject({ what: 'recovery' });
    expect(await line.closed).toBe(1008);
    await line.close();
    await thief.close();
    const again = await enter(home, next, device);
    expect(again.welcome.recoveryId).toBe(other.id);
    await again.close();
  });

  it('limits attempts at phrases and proofs', async () => {
    relay.pass(3_600_000);
    const statuses: number[] = [];
    for (let tries = 0; tries < 12; tries++)
      statuses.push((await home.fetch(`/api/sync/recoveries/${newRecovery().id}`)).status);
    expect(statuses.slice(0, 3)).toEqual([404, 404, 404]);
    expect(statuses.at(-1)).toBe(429);
    const household = newTestHousehold();
    await register(home, household, newTestDevice());
    const proofs: Response[] = [];
    for (let tries = 0; tries < 12; tries++)
      proofs.push(await register(home, household, newTestDevice(), { proof: 'a'.repeat(86) }));
    expect(proofs[0]?.status).toBe(403);
    expect(proofs.at(-1)?.status).toBe(429);
    expect(Number(proofs.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
    relay.pass(3_600_000);
    expect((await register(home, household, newTestDevice())).status).toBe(200);
  });
});

describe('the room on a relay', () => {
  it('limits households and devices', async () => {
    const relay = await openTestRelay({ args: ['--households', '2'] });
    try {
      const home = await relay.signIn();
      const [household, other] = [newTestHousehold(), newTestHousehold()];
      await register(home, household, newTestDevice());
      await register(home, other, newTestDevice());
      const full = await register(home, newTestHousehold(), newTestDevice());
      expect(await problemOf(full)).toMatchObject({
        status: 409,
        type: 'households-full',
        detail: expect.stringContaining('--households'),
      });
      let answer = await register(home, household, newTestDevice());
      for (let i = 0; i < 40 && answer.ok; i++) answer = await register(home, household, newTestDevice());
      expect(await problemOf(answer)).toMatchObject({ status: 409, type: 'devices-full' });
      expect((await register(home, other, newTestDevice())).status).toBe(200);
    } finally {
      await relay.close();
    }
  });
});
