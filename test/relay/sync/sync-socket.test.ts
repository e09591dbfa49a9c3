import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { socketBytes } from '../../../src/shared/protocol/sync/control.ts';
import { SYNC } from '../../../src/shared/protocol/sync/settings.ts';
import { openTestRelay } from '../../support/open-relay.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';
import {
  enter,
  hello,
  newTestDevice,
  newTestHousehold,
  newTestKey,
  openSocket,
  Refused,
  type TestSocket,
} from '../../support/sync-device.ts';
import { protocolsOf } from '../../../src/shared/relay-client/page-key.ts';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(async () => {
  const { code, stderr } = await relay.stop();
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/\n\s+at /);
});
const refusalOf = async (headers: Record<string, string>) => {
  const refused = await openSocket(relay, headers).catch((error: unknown) => error);
  if (!(refused instanceof Refused)) throw new Error('it was let in');
  expect(refused.type).toBe('application/problem+json');
  expect(problemSchema.parse(JSON.parse(refused.body)).status).toBe(refused.status);
  return refused.status;
};
const raw = (headers: Record<string, string>, path = '/api/sync/socket', method = 'GET', body?: string) =>
  rawRequest({
    port: relay.port,
    path,
    method,
    headers: { host: `127.0.0.1:${relay.port}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });

describe('the door of the sync socket', () => {
  it('admits only Roost’s own signed-in page under Roost’s own host name', async () => {
    expect(await refusalOf({ cookie: '' })).toBe(401);
    expect(await refusalOf({ cookie: `roost_${relay.port}=${'a'.repeat(43)}` })).toBe(401);
    for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${relay.port + 1}`, ''])
      expect(await refusalOf({ origin }), origin).toBe(403);
    expect(await refusalOf({ host: 'evil.example' })).toBe(403);
    expect(await refusalOf({ host: `rebound.example:${relay.port}` })).toBe(403);
    expect(await refusalOf({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    const line = await openSocket(relay);
    expect(line.socket.extensions, 'nothing is deflated').toBe('');
    expect(await line.next('challenge')).toMatchObject({ nonce: expect.stringMatching(/^[\w-]{43}$/) });
    await line.close();
  });

  it('wants to know the page that asks', async () => {
    const handshake = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      ...(await relay.headers()),
    };
    const { status, text } = await raw(handshake);
    expect(status).toBe(403);
    expect(problemSchema.parse(JSON.parse(text)).detail).toContain('Origin');
  });

  it('answers only socket upgrades, on no other path', async () => {
    const own = await relay.headers();
    expect((await raw(own)).status).toBe(426);
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      ...own,
      origin: relay.url,
    };
    for (const other of ['/api/rehearsal', '/api/events', '/api/none-such', '/'])
      expect((await raw(upgrade, other)).status, `${other} takes no socket`).toBe(400);
    expect((await raw({ ...upgrade, 'sec-websocket-key': 'short' })).status).toBe(400);
    expect((await raw(upgrade, '//%')).status).toBeGreaterThanOrEqual(400);
  });

  it('goes on with clients that offer HTTP/2 along with a call', async () => {
    const own = await relay.headers();
    const offer = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQAAP__',
      ...own,
    };
    expect((await raw(offer, '/api/rehearsal')).status).toBe(200);
    const options = { seed: 7, delayMs: 3 };
    const put = await raw(
      { ...offer, 'content-type': 'application/json' },
      '/api/rehearsal',
      'PUT',
      JSON.stringify(options),
    );
    expect(put.status).toBe(200);
    expect(JSON.parse(put.text)).toMatchObject(options);
  });

  it('leaves the relay whole when somebody goes in the middle', async () => {
    for (let i = 0; i < 5; i++) {
      const socket = connect(relay.port, '127.0.0.1');
      socket.on('error', () => undefined);
      await new Promise<void>((resolve) => socket.once('connect', resolve));
      socket.write(
        `GET /api/sync/socket HTTP/1.1\r\nHost: 127.0.0.1:${relay.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: ${relay.url}\r\nCookie: ${(await relay.signIn()).cookie}\r\nSec-WebSocket-Protocol: ${protocolsOf((await relay.signIn()).key).join(', ')}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
      );
      socket.destroy();
    }
    expect((await relay.fetch('/api/health')).status).toBe(200);
  });
});

describe('a device at the sync socket', () => {
  // One sign-in brings a few households, and no more.
  const [known, elsewhere] = [newTestHousehold(), newTestHousehold()];

  it('admits a registered device with a valid proof, and lists the others', async () => {
    const [household, one, other] = [newTestHousehold(), newTestDevice(), newTestDevice()];
    const first = await enter(relay, household, one);
    expect(first.welcome).toMatchObject({
      epoch: 1,
      box: null,
      recoveryId: null,
      devices: [{ device: one.id, online: true }],
    });
    const second = await enter(relay, household, other);
    expect(second.welcome.devices.map(({ device, online }) => [device, online])).toEqual(
      expect.arrayContaining([
        [one.id, true],
        [other.id, true],
      ]),
    );
    const seen = async (online: boolean) => {
      for (;;) {
        const { devices } = await first.next('devices');
        if (devices.find(({ device }) => device === other.id)?.online === online) return devices;
      }
    };
    expect(await seen(true)).toHaveLength(2);
    await second.close();
    expect(await seen(false)).toHaveLength(2);
    await first.close();
  });

  it("answers a device's ping", async () => {
    const line = await enter(relay, known, newTestDevice());
    line.send({ kind: 'ping' });
    await line.next('pong');
    await line.close();
  });

  it('tells an unknown device to register', async () => {
    const line = await hello(relay, newTestHousehold(), newTestDevice());
    await line.next('unknown');
    expect(await line.closed).toBe(1008);
  });

  it('refuses a proof of another device, time or household', async () => {
    const [household, device] = [known, newTestDevice()];
    await (await enter(relay, household, device)).close();
    await (await enter(relay, elsewhere, device)).close();
    const wrong = async (sign: (nonce: string) => string, by = device) => {
      const line = await openSocket(relay);
      const { nonce } = await line.next('challenge');
      line.send({
        kind: 'hello',
        household: household.id,
        device: device.id,
        deviceKey: by.key.publicKey,
        boxKey: by.boxKey,
        signature: sign(nonce),
      });
      expect(await line.next('refused')).toMatchObject({
        what: 'hello',
        reason: expect.stringMatching(/^This device could not prove/),
      });
      expect(await line.closed).toBe(1008);
    };
    await wrong((nonce) => newTestKey().sign(socketBytes(household.id, device.id, nonce)));
    await wrong(() => device.key.sign(socketBytes(household.id, device.id, 'an earlier nonce')));
    await wrong((nonce) => device.key.sign(socketBytes(elsewhere.id, device.id, nonce)));
    // Nor with keys of its own under another’s id, one of them or both.
    const thief = newTestDevice();
    await wrong((nonce) => thief.key.sign(socketBytes(household.id, device.id, nonce)), thief);
    await wrong((nonce) => device.key.sign(socketBytes(household.id, device.id, nonce)), {
      ...device,
      boxKey: thief.boxKey,
    });
  });

  const junk: readonly [string, (line: TestSocket) => void, string][] = [
    ['what is not JSON', ({ socket }) => socket.send('{'), 'message'],
    ['a kind of message that there is not', ({ socket }) => socket.send('{"kind":"open"}'), 'message'],
    ['a message that lacks something', ({ socket }) => socket.send('{"kind":"signal","to":"x"}'), 'message'],
    [
      'a second hello',
      ({ socket }) =>
        socket.send(
          JSON.stringify({
            kind: 'hello',
            household: 'a'.repeat(22),
            device: 'a'.repeat(22),
            deviceKey: 'a'.repeat(43),
            boxKey: 'a'.repeat(43),
            signature: 'a'.repeat(86),
          }),
        ),
      'hello',
    ],
    ['a frame that is none', ({ socket }) => socket.send(new Uint8Array([255, 1, 2, 3])), 'frame'],
    [
      'too long a text',
      ({ socket }) => socket.send(JSON.stringify({ kind: 'ping', more: 'x'.repeat(3_000_000) })),
      'message',
    ],
    ['a flood of texts', ({ send }) => Array.from({ length: 400 }, () => send({ kind: 'ping' })), 'message'],
  ];
  it.each(junk)('refuses and disconnects a device for %s, and no other', async (_what, send, refused) => {
    const bystander = await enter(relay, known, newTestDevice());
    const line = await enter(relay, known, newTestDevice());
    send(line);
    expect(await line.next('refused')).toMatchObject({ what: refused, reason: expect.stringMatching(/\.$|: /) });
    expect(await line.closed).toBe(1008);
    bystander.send({ kind: 'ping' });
    await bystander.next('pong');
    await bystander.close();
  });

  it.each([
    ['a frame', ({ sendFrame }: TestSocket) => sendFrame(new Uint8Array([1])), 'frame'],
    ['a signal', ({ send }: TestSocket) => send({ kind: 'signal', to: 'a'.repeat(22), data: '' }), 'signal'],
  ])('refuses and disconnects a device for %s before its hello', async (_what, send, refused) => {
    const line = await openSocket(relay);
    send(line);
    expect(await line.next('refused')).toMatchObject({ what: refused, reason: 'A device must send hello first.' });
    expect(await line.closed).toBe(1008);
  });

  it('disconnects a device for a message larger than any entry', async () => {
    const line = await enter(relay, known, newTestDevice());
    line.socket.send(new Uint8Array(SYNC.entryBytes + 100_000));
    // Too big, of RFC 6455; a system that is still being written to may lose it.
    expect([1009, 1006]).toContain(await line.closed);
    expect((await relay.fetch('/api/health')).status).toBe(200);
  });

  it('hears a signal of another of its household that is here, and of nobody else', async () => {
    const [household, stranger] = [known, elsewhere];
    const [one, other, outsider] = [newTestDevice(), newTestDevice(), newTestDevice()];
    const first = await enter(relay, household, one);
    const second = await enter(relay, household, other);
    const seesOther = async () =>
      (await first.next('devices')).devices.some(({ device, online }) => device === other.id && online);
    while (!(await seesOther())) continue;
    const third = await enter(relay, stranger, outsider);
    first.send({ kind: 'signal', to: other.id, data: 'sealed words' });
    expect(await second.next('signal')).toEqual({ kind: 'signal', from: one.id, data: 'sealed words' });
    third.send({ kind: 'signal', to: one.id, data: 'from outside' });
    expect(await third.next('refused')).toMatchObject({ what: 'signal' });
    await second.close();
    // The relay hears of it in its own time, and then tells.
    while (await seesOther()) continue;
    first.send({ kind: 'signal', to: other.id, data: 'too late' });
    expect(await first.next('refused')).toMatchObject({
      what: 'signal',
      reason: 'That device is not connected to the relay now.',
    });
    expect(first.heard.filter(({ kind }) => kind === 'signal')).toEqual([]);
    for (const line of [first, third]) await line.close();
  });

  it('breaks nothing, whatever it says: it is answered, or refused and cut', { timeout: 120_000 }, async () => {
    const open = await openTestRelay();
    const home = await open.signIn();
    const household = newTestHousehold();
    const bystander = await enter(home, household, newTestDevice());
    const bytes = (length: number) =>
      fc.uint8Array({ minLength: length, maxLength: length }).map((given) => Buffer.from(given).toString('base64url'));
    const odd = <Value>(usual: fc.Arbitrary<Value>) =>
      fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) });
    const words = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('', '\u0000', '\ud800', '__proto__'),
    );
    const recovery = fc.record({ id: odd(bytes(32)), box: odd(bytes(5)) });
    const rotation = fc.record({
      epoch: odd(fc.integer({ min: 0, max: 4 })),
      authKey: odd(bytes(32)),
      proof: odd(bytes(64)),
      removed: odd(fc.array(bytes(16), { maxLength: 3 })),
      boxes: odd(fc.dictionary(fc.oneof(bytes(16), words), bytes(5), { maxKeys: 3 })),
      recovery: odd(fc.option(recovery)),
    });
    const message = fc.oneof(
      fc.record({ kind: fc.constant('signal'), to: odd(bytes(16)), data: odd(words) }),
      fc.record({ kind: fc.constant('rotate'), rotation: odd(rotation) }),
      fc.record({ kind: fc.constant('recovery'), recovery: odd(recovery), proof: odd(bytes(64)) }),
      fc.record({ kind: odd(words) }),
      fc.jsonValue({ maxDepth: 3 }),
    );
    const said = fc.oneof(
      { weight: 4, arbitrary: message.map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: words },
      { weight: 2, arbitrary: fc.uint8Array({ maxLength: 80 }) },
    );
    const device = newTestDevice();
    await fc.assert(
      fc.asyncProperty(fc.array(said, { minLength: 1, maxLength: 4 }), async (all) => {
        // So that proofs may fail as often as they like.
        open.pass(600_000);
        const line = await enter(home, household, device);
        for (const each of all) line.socket.send(each);
        line.send({ kind: 'ping' });
        const heard = await Promise.race([
          line.next('pong').then(
            () => true,
            () => false,
          ),
          line.closed,
        ]);
        if (heard !== true) expect(heard === false || heard === 1008).toBe(true);
        await line.close();
      }),
      { numRuns: 40 },
    );
    bystander.send({ kind: 'ping' });
    await bystander.next('pong');
    expect(bystander.welcome.epoch).toBe(1);
    await bystander.close();
    expect(await readFile(join(open.home, 'logs/relay.log'), 'utf8')).not.toContain('failed');
    await open.close();
  });

  it('tells a device when the relay ends', async () => {
    const own = await startRelay();
    const line = await enter(own, newTestHousehold(), newTestDevice());
    expect((await own.stop()).code).toBe(0);
    expect(await line.closed).toBe(1001);
  });
});
