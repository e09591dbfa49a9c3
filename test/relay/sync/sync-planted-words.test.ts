import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../server/store/index.ts';
import {
  deviceKeys,
  newHousehold,
  newOffer,
  newInvitation,
  newPhrase,
  newWriter,
  openEntry,
  recoveryOf,
  relayAuth,
  renewed,
  sealBox,
  sealEntry,
  sealSignal,
  sealWelcome,
  writeKeys,
} from '../../../src/worker/sync/crypto/index.ts';
import type { HouseholdKeys } from '../../../src/worker/sync/contract.ts';
import { searchFor, writtenForms } from '../../support/planted-words.ts';
import { createHome, databaseOf, startRelay, type TestRelay } from '../../support/relay.ts';
import { USUAL_STORES } from '../../support/stores.ts';
import {
  recoveryOf as settingRecovery,
  renew,
  type TestDevice,
  type TestHousehold,
  type TestSocket,
} from '../../support/sync-device.ts';
import { createTestReplica } from '../../support/sync-replica.ts';

const random = (length: number) => new Uint8Array(randomBytes(length));
const utf8 = (text: string) => new TextEncoder().encode(text);

/**
 * A soul, a name, a message, a device's name, the words of a signal, and one that comes in the
 * wrong place.
 */
const PLANTED = [
  'Heartwood-of-Ålesund',
  'Quillfeather Wintermoth',
  'the marmalade under the staircase',
  'Ada’s violet notebook',
  'candidate-at-10.77.88.99',
  'blurted-out-too-early',
];
/** One that is not sealed: the search must find it wherever the others would be. */
const CONTROL = 'in plain sight, to be found';

describe('the search for planted words', () => {
  it.each([
    'UTF-8',
    'UTF-16LE',
    'hex',
    'HEX',
    'JSON',
    'base64+0',
    'base64+1',
    'base64+2',
    'base64url+0',
    'base64url+1',
    'base64url+2',
  ])('finds one that is written as %s', (form) => {
    const written = PLANTED.flatMap((word) =>
      writtenForms(word).has(form) ? [{ word, bytes: writtenForms(word).get(form) ?? Buffer.alloc(0) }] : [],
    );
    expect(written.length).toBeGreaterThan(0);
    for (const { word, bytes } of written)
      expect(
        searchFor([word])
          .inBytes(Buffer.concat([randomBytes(50), bytes, randomBytes(50)]), 'here')
          .map((found) => found.form),
      ).toContain(form);
  });

  it('finds one within base64 of more, wherever it begins, and in the name of a file', async () => {
    for (const before of ['', 'x', 'xy', 'xyz']) {
      const text = Buffer.from(`${before}${PLANTED[0] ?? ''} and more`);
      for (const encoding of ['base64', 'base64url'] as const)
        expect(searchFor(PLANTED).inBytes(Buffer.from(text.toString(encoding)), 'here')).not.toEqual([]);
    }
    expect(searchFor(PLANTED).inBytes(randomBytes(100_000), 'noise')).toEqual([]);
    const folder = await mkdtemp(join(tmpdir(), 'roost-words-'));
    await writeFile(join(folder, `${CONTROL}.log`), '');
    expect(await searchFor([CONTROL]).inFolder(folder)).toMatchObject([{ form: 'UTF-8' }]);
    await rm(folder, { recursive: true });
  });
});

describe.each(USUAL_STORES)('with a copy of everything that a relay on %s keeps and is sent', (kind) => {
  let home: string;
  let relay: TestRelay;
  const traffic: Buffer[] = [];
  beforeAll(async () => {
    home = await createHome({ store: kind });
    relay = await startRelay({ home });
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  const listen = ({ socket }: TestSocket) => {
    socket.on('message', (data: Buffer) => traffic.push(Buffer.from(data)));
    const send = socket.send.bind(socket);
    socket.send = (data: Buffer | string, ...rest: []) => {
      traffic.push(Buffer.from(data as Buffer));
      send(data, ...rest);
    };
  };
  const householdOf = (keys: HouseholdKeys): TestHousehold => {
    const newest = keys.keyring.at(-1);
    if (!newest) throw new Error('a household has a key');
    return { id: keys.household, epoch: newest.epoch, authKey: relayAuth(newest), rotations: [] };
  };

  it('contains no soul, name, message or address that the household has exchanged', async () => {
    const keys = newHousehold(random);
    const household = householdOf(keys);
    const [one, other] = [0, 1].map(() => {
      const made = deviceKeys(random(32));
      return { id: made.deviceId, key: { publicKey: made.signKey, sign: made.sign }, boxKey: made.boxKey };
    });
    if (!one || !other) throw new Error('two were made');
    const replicas = [one, other].map((device) => createTestReplica(household, device satisfies TestDevice));
    const [first, second] = replicas;
    if (!first || !second) throw new Error('two were made');
    const lines = [await first.connect(relay), await second.connect(relay)] as const;
    lines.forEach(listen);

    // What is said on the way, and kept.
    const place = { writer: newWriter(keys, 'talk', random), counter: 0 };
    const write = (payload: string) => {
      place.counter += 1;
      const entry = { ...place, sealed: sealEntry({ keys, ...place, payload: utf8(payload), random }) };
      first.store.write([entry]);
      first.replica.wrote([entry]);
    };
    for (const word of PLANTED.slice(0, 4))
      write(JSON.stringify({ docs: [{ type: 'message', text: `${word}, ${'and more. '.repeat(300)} ${word}` }] }));
    first.write(`${CONTROL}: ${'.'.repeat(300)}`);
    await expect.poll(() => second.count()).toBe(5);
    const opened = openEntry({
      keys,
      writer: place.writer,
      counter: 1,
      sealed: second.store.all.get(place.writer)?.get(1) ?? new Uint8Array(),
    });
    expect(opened.ok && new TextDecoder().decode(opened.payload)).toContain(PLANTED[0]);

    // Signals, boxes, a phrase, an offer.
    lines[0].send({ kind: 'signal', to: other.id, data: sealSignal(keys, one.id, other.id, PLANTED[4] ?? '', random) });
    await lines[1].next('signal');
    const recovery = recoveryOf(newPhrase(random).words.join(' '));
    if (!recovery.ok) throw new Error(recovery.reason);
    lines[0].send(
      settingRecovery(household, { id: recovery.id, box: sealBox(recovery.boxKey, writeKeys(keys), random) }),
    );
    await lines[0].next('recovery-kept');
    const next = renewed(keys, random);
    const rotation = renew(household, { stay: [one, other] }).rotation;
    lines[0].send({
      kind: 'rotate',
      rotation: {
        ...rotation,
        boxes: Object.fromEntries(
          [one, other].map((device) => [device.id, sealBox(device.boxKey, writeKeys(next), random)]),
        ),
      },
    });
    await lines[1].next('rotated');
    const [offer, invitation] = [newOffer(random), newInvitation(random)];
    const path = `/api/sync/offers/${offer.offerId}`;
    await relay.fetch(path, { method: 'PUT' });
    const welcome = sealWelcome(
      {
        secret: invitation.secret,
        offer: { key: offer.publicKey, ...deviceKeys(random(32)) },
        inviter: { key: invitation.publicKey, ...deviceKeys(random(32)) },
      },
      utf8(PLANTED.join(' ')),
      random,
    );
    expect((await relay.fetch(`${path}/welcome`, { method: 'PUT', json: { data: welcome } })).status).toBe(204);
    // Said where nothing belongs: it is refused, and leaves no trace.
    lines[1].socket.send(JSON.stringify({ kind: 'blurt', words: PLANTED[5] }));
    await lines[1].next('refused');
    await relay.fetch(`/api/sync/households/${household.id}`, { method: 'PUT', json: { words: PLANTED[5] } });
    await relay.fetch(`/api/sync/offers/${encodeURIComponent(PLANTED[5] ?? '')}`, { method: 'PUT' });

    for (const line of lines) await line.close();
    for (const replica of replicas) await replica.close();
    const { stdout, stderr } = await relay.stop();

    const planted = searchFor(PLANTED);
    const control = searchFor([CONTROL]);
    expect(await planted.inFolder(home)).toEqual([]);
    const store = await openStore({ folder: join(home, 'store'), databaseUrl: databaseOf(home) ?? null });
    expect(await planted.inDatabase(store.db)).toEqual([]);
    expect(planted.inBytes(Buffer.from(`${stdout}${stderr}`), 'what it printed')).toEqual([]);
    // All but the words that were blurted out.
    expect(searchFor(PLANTED.slice(0, 5)).inBytes(Buffer.concat(traffic), 'the sockets')).toEqual([]);
    // The search looks where it must: it finds what was not sealed.
    expect(await control.inDatabase(store.db)).toMatchObject([
      { form: 'UTF-8', where: expect.stringContaining('roost.entries') },
    ]);
    expect(control.inBytes(Buffer.concat(traffic), 'the sockets')).not.toEqual([]);
    await store.close();
    if (kind === 'sqlite') expect(await control.inFolder(home)).not.toEqual([]);
  });
});
