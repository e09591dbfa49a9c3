import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRateLimit } from '../../../server/access/index.ts';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import { createEntryStore } from '../../../server/sync/entry-store.ts';
import { createHouseholds } from '../../../server/sync/households.ts';
import { createHub, type Hub } from '../../../server/sync/hub.ts';
import { createSockets, type Sockets, type SocketsDeps } from '../../../server/sync/socket.ts';
import { syncEndpoints } from '../../../src/shared/protocol/endpoints/sync.ts';
import { createUpgrades } from '../../../server/http/upgrade.ts';
import { storeFor } from '../../support/store-for.ts';
import {
  hello,
  newTestDevice,
  newTestHousehold,
  openSocket,
  Refused,
  registrationOf,
  type TestDevice,
  type TestHousehold,
} from '../../support/sync-device.ts';

/** ms, so that a test does not wait long for what takes several. */
const BEAT = 100;

describe('a sync socket', () => {
  const store = storeFor();
  let server: Server;
  let hub: Hub;
  let sockets: Sockets;
  const errors: unknown[] = [];
  const household = newTestHousehold();
  const [one, other] = [newTestDevice(), newTestDevice()];
  beforeEach(() => errors.splice(0));
  afterEach(async () => {
    await sockets.close();
    await hub.close();
    await new Promise((resolve) => server.close(resolve));
    expect(errors).toEqual([]);
  });

  /** The relay's end of the sockets, with nobody at the door. */
  async function serve(limits: SocketsDeps['limits'] = {}, heartbeatMs = 60_000) {
    const db = store().db;
    const logger = {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (_message: string, fields: unknown) => errors.push(fields),
    };
    const households = createHouseholds({
      db,
      relay: 'relay',
      now: Date.now,
      most: 100,
      onMember: () => Promise.resolve(),
    });
    for (const device of [one, other])
      await households.register(household.id, registrationOf(household, device), 'browser');
    const storeOf = (id: string) =>
      createEntryStore({ db, relay: 'relay', household: id, now: Date.now, mostBytes: 1_000_000 });
    hub = createHub({ households, storeOf, timers: realTimers, alone: true, onRevoked: () => undefined, logger });
    const failures = createRateLimit({ perSecond: 1, burst: 10, elapsed: () => performance.now() });
    sockets = createSockets({
      households,
      hub,
      failures,
      elapsed: () => performance.now(),
      onError: (error) => errors.push(error),
      heartbeatMs,
      limits,
    });
    const upgrades = createUpgrades({ path: syncEndpoints.syncSocket.path, messageBytes: 1_000_000 });
    const listener = upgrades.listener({
      fetch: (_request, env) => {
        if (sockets.full('browser')) return new Response(null, { status: 503 });
        if (env && 'incoming' in env)
          upgrades.accept(env.incoming, {
            take: (socket) => sockets.open(socket, { browser: 'browser', address: '127.0.0.1' }),
            refuse: () => null,
          });
        return new Response(null, { status: 204 });
      },
      refuse: (error) => {
        throw error;
      },
    });
    server = createServer();
    server.on('upgrade', (request, socket, head) => listener(request, socket, head, () => undefined));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { url, signIn: () => Promise.resolve({ cookie: '', key: 'none' }) };
  }
  const enter = async (
    home: Awaited<ReturnType<typeof serve>>,
    device: TestDevice = one,
    who: TestHousehold = household,
  ) => {
    const line = await hello(home, who, device);
    await line.next('welcome');
    return line;
  };

  it('says something at every heartbeat, unasked', async () => {
    const line = await enter(await serve({}, BEAT));
    for (let beats = 0; beats < 4; beats++) await line.next('pong');
  });

  it('closes without a sign of life', async () => {
    const line = await enter(await serve({}, BEAT));
    // Answers nothing any more, as a machine that fell asleep.
    line.socket.pause();
    await expect.poll(() => hub.count(household.id)).toBe(0);
  });

  it('stays while there is one', async () => {
    const line = await enter(await serve({}, BEAT));
    for (let beats = 0; beats < 8; beats++) await line.next('pong');
    expect(hub.count(household.id)).toBe(1);
  });

  it('closes when its hello does not arrive', async () => {
    const line = await openSocket(await serve({ helloMs: BEAT }));
    expect(await line.next('refused')).toMatchObject({ what: 'hello', reason: 'The device sent no hello in time.' });
    expect(await line.closed).toBe(1008);
  });

  it('closes when too many messages wait unread', async () => {
    const home = await serve({ unsentBytes: 300_000, textBurst: 100_000 });
    const [slow, fast] = [await enter(home, one), await enter(home, other)];
    slow.socket.pause();
    for (let sent = 0; sent < 2_000 && hub.count(household.id) === 2; sent++) {
      fast.send({ kind: 'signal', to: one.id, data: 'x'.repeat(60_000) });
      if (sent % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await expect.poll(() => hub.count(household.id)).toBe(1);
    // It comes back, and is welcome.
    await enter(home, one);
    expect(hub.count(household.id)).toBe(2);
  });

  it('limits sockets per household and in all', async () => {
    const home = await serve({ sockets: 3, householdSockets: 2 });
    await enter(home, one);
    await enter(home, one);
    const third = await hello(home, household, other);
    expect(await third.next('refused')).toMatchObject({
      what: 'hello',
      reason: expect.stringContaining('Too many sockets'),
    });
    await third.closed;
    await expect.poll(() => sockets.full('browser')).toBe(false);
    await openSocket(home);
    const refused = await openSocket(home).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refused);
    expect(refused).toMatchObject({ status: 503 });
  });

  it('leaves no presence when it closes during admission', async () => {
    const home = await serve();
    for (let i = 0; i < 10; i++) {
      const line = await hello(home, household, one);
      if (i % 2 === 0) line.socket.terminate();
      else line.socket.close();
      await line.closed;
    }
    await expect.poll(() => hub.count(household.id)).toBe(0);
    const line = await enter(home, other);
    line.send({ kind: 'signal', to: one.id, data: '' });
    expect(await line.next('refused')).toMatchObject({ what: 'signal' });
  });
});
