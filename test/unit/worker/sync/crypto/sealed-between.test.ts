import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  base64url,
  deviceIdOf,
  deviceKeys,
  fromBase64url,
  isSignedBy,
  newHousehold,
  newId,
  newInvitation,
  newOffer,
  openJoined,
  openSignal,
  openWelcome,
  pairingWords,
  readFace,
  relayAuth,
  renewed,
  sealBox,
  sealJoined,
  sealSignal,
  sealWelcome,
  writeFace,
} from '../../../../../src/worker/sync/crypto/index.ts';
import { flipped, payloads, random, text, utf8 } from '../support.ts';

/**
 * All encodings of points of low order on Curve25519 and its twist that fit in 32 bytes, as hex.
 */
const LOW_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].flatMap((hex) => {
  const bytes = Buffer.from(hex, 'hex');
  return [bytes.toString('base64url'), Buffer.from(flipped(bytes, 31, 7)).toString('base64url')];
});
const changed = (data: string, at: number) => base64url(flipped(fromBase64url(data) ?? new Uint8Array(), at));
const sizeOf = (data: string) => fromBase64url(data)?.length ?? 0;

describe('a box for one device', () => {
  const device = deviceKeys(random(32));

  // SPEC 6.9
  it('opens a box on its own device and on no other', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const box = sealBox(device.boxKey, payload, random);
        expect(device.openBox(box)).toEqual(payload);
        expect(deviceKeys(random(32)).openBox(box)).toBeNull();
      }),
      { numRuns: 10 },
    );
  });

  it('refuses a box that is changed, cut, of another version, or none', () => {
    const box = sealBox(device.boxKey, utf8('a key'), random);
    for (let at = 0; at < sizeOf(box); at += 7) expect(device.openBox(changed(box, at))).toBeNull();
    for (const other of ['', 'no box', box.slice(0, 40), box.slice(0, -4), `${box}AAAA`])
      expect(device.openBox(other)).toBeNull();
  });

  // SPEC 1.4
  it('refuses keys of low order for sealing and opening', () => {
    const box = fromBase64url(sealBox(device.boxKey, utf8('a key'), random)) ?? new Uint8Array();
    for (const key of LOW_ORDER) {
      expect(() => sealBox(key, utf8('a key'), random)).toThrow('Nothing can be sealed to');
      expect(
        device.openBox(base64url(Uint8Array.of(1, ...(fromBase64url(key) ?? []), ...box.subarray(33)))),
      ).toBeNull();
    }
    expect(() => sealBox('short', utf8('a key'), random)).toThrow('Nothing can be sealed to');
  });
});

describe('what is signed', () => {
  // SPEC 13.2
  it('signs by device and household key what the relay checks', () => {
    const keys = newHousehold(random);
    const device = deviceKeys(random(32));
    const household = relayAuth(keys.keyring[0] ?? { epoch: 0, key: new Uint8Array() });
    const bytes = utf8('let me in');
    for (const [key, signed] of [
      [device.signKey, device.sign(bytes)],
      [household.publicKey, household.sign(bytes)],
    ] as const) {
      const checked = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' });
      expect(verify(null, bytes, checked, Buffer.from(signed, 'base64url'))).toBe(true);
      expect(verify(null, utf8('let me out'), checked, Buffer.from(signed, 'base64url'))).toBe(false);
    }
  });

  it('checks signatures on a device as the relay does', () => {
    const device = deviceKeys(random(32));
    const bytes = utf8('the keys are renewed');
    const signed = device.sign(bytes);
    expect(isSignedBy(device.signKey, bytes, signed)).toBe(true);
    expect(isSignedBy(device.signKey, utf8('the keys are mine'), signed)).toBe(false);
    expect(isSignedBy(deviceKeys(random(32)).signKey, bytes, signed)).toBe(false);
    for (let at = 0; at < 64; at += 9) expect(isSignedBy(device.signKey, bytes, changed(signed, at))).toBe(false);
    for (const none of ['', '?', 'A'.repeat(43), 'A'.repeat(86)]) {
      expect(isSignedBy(device.signKey, bytes, none)).toBe(false);
      expect(isSignedBy(none, bytes, 'A'.repeat(86))).toBe(false);
    }
  });

  // SPEC 2.1
  it('signs with another key in each epoch', () => {
    const keys = renewed(newHousehold(random), random);
    expect(new Set(keys.keyring.map((epochKey) => relayAuth(epochKey).publicKey)).size).toBe(2);
  });
});

describe('a signal', () => {
  const keys = newHousehold(random);
  const [from, to] = [newId(random), newId(random)];
  const signal = sealSignal(keys, from, to, 'v=0 … 🪺', random);

  // SPEC 6.1
  it('reads a signal on its own device, as from its sender', () => {
    expect(openSignal(keys, from, to, signal)).toBe('v=0 … 🪺');
    expect(openSignal(keys, to, from, signal)).toBeNull();
    expect(openSignal(keys, newId(random), to, signal)).toBeNull();
    expect(openSignal(newHousehold(random), from, to, signal)).toBeNull();
    expect(openSignal({ ...keys, household: newId(random) }, from, to, signal)).toBeNull();
  });

  it('refuses a signal with any byte changed, or that is none', () => {
    for (let at = 0; at < sizeOf(signal); at += 1) expect(openSignal(keys, from, to, changed(signal, at))).toBeNull();
    for (const other of ['', 'AQAB', '?', signal.slice(0, -4)]) expect(openSignal(keys, from, to, other)).toBeNull();
    expect(openSignal(keys, 'me', to, signal)).toBeNull();
    expect(() => sealSignal(keys, from, 'you', '', random)).toThrow('from one device to another');
  });

  // SPEC 6.7
  it('refuses a signal of a removed device', () => {
    const without = renewed(keys, random);
    expect(openSignal(without, from, to, signal)).toBeNull();
    expect(openSignal(without, from, to, sealSignal(without, from, to, 'hello', random))).toBe('hello');
  });
});

describe('pairing', () => {
  const offer = newOffer(random);
  const invitation = newInvitation(random);
  /** What a side shows, with the keys of some device. */
  const faceOf = (key: string) => {
    const { signKey, boxKey } = deviceKeys(random(32));
    return { key, signKey, boxKey };
  };
  const both = { offer: faceOf(offer.publicKey), inviter: faceOf(invitation.publicKey) };
  const newDevice = { secret: offer.secret, ...both };
  const inviter = { secret: invitation.secret, ...both };
  const welcome = sealWelcome(inviter, utf8('the keys'), random);

  // SPEC 9.8
  it('shows both the same six words, and others when any key of either is another', () => {
    const words = pairingWords(both.offer, both.inviter);
    expect(words).toHaveLength(6);
    expect(words.every((word) => /^[a-z]{3,8}$/u.test(word))).toBe(true);
    expect(pairingWords(both.offer, both.inviter)).toEqual(words);
    expect(pairingWords(both.inviter, both.offer)).not.toEqual(words);
    // Of either device: the key of this offer, the one that it signs with, the one that keys are
    // sealed to.
    const other = faceOf(newInvitation(random).publicKey);
    for (const part of ['key', 'signKey', 'boxKey'] as const) {
      expect(pairingWords({ ...both.offer, [part]: other[part] }, both.inviter)).not.toEqual(words);
      expect(pairingWords(both.offer, { ...both.inviter, [part]: other[part] })).not.toEqual(words);
    }
  });

  it('hands the keys to the new device, and hears that they came', () => {
    expect(text(openWelcome(newDevice, welcome))).toBe('the keys');
    expect(text(openJoined(inviter, sealJoined(newDevice, utf8('here'), random)))).toBe('here');
  });

  // SPEC 6.1, 9.12
  it('takes no message of the other direction, of another pairing, or changed', () => {
    expect(openJoined(inviter, welcome)).toBeNull();
    expect(openWelcome(newDevice, sealJoined(newDevice, utf8('here'), random))).toBeNull();
    const other = newOffer(random);
    expect(openWelcome({ ...newDevice, secret: other.secret, offer: faceOf(other.publicKey) }, welcome)).toBeNull();
    expect(
      openWelcome({ ...newDevice, inviter: { ...both.inviter, key: newInvitation(random).publicKey } }, welcome),
    ).toBeNull();
    // Nor where what either shows of its device is another’s.
    for (const part of ['signKey', 'boxKey'] as const) {
      expect(openWelcome({ ...newDevice, inviter: { ...both.inviter, [part]: both.offer[part] } }, welcome)).toBeNull();
      expect(openWelcome({ ...newDevice, offer: { ...both.offer, [part]: both.inviter[part] } }, welcome)).toBeNull();
    }
    expect(openWelcome({ ...newDevice, secret: other.secret }, welcome)).toBeNull();
    for (let at = 0; at < sizeOf(welcome); at += 5) expect(openWelcome(newDevice, changed(welcome, at))).toBeNull();
    for (const none of ['', 'AQ', '?', welcome.slice(0, -4)]) expect(openWelcome(newDevice, none)).toBeNull();
  });

  // SPEC 1.4
  it('knows no key of low order', () => {
    for (const key of LOW_ORDER) {
      for (const part of ['key', 'boxKey'] as const)
        expect(readFace(writeFace({ ...both.offer, [part]: key }))).toBeNull();
      expect(deviceIdOf({ ...both.offer, boxKey: key })).toBeNull();
      expect(openWelcome({ ...newDevice, inviter: { ...both.inviter, key } }, welcome)).toBeNull();
      expect(() => sealWelcome({ ...inviter, offer: { ...both.offer, key } }, utf8('the keys'), random)).toThrow(
        'Nothing can be sealed to',
      );
    }
    expect(readFace(writeFace(both.offer))).toEqual(both.offer);
    expect(readFace('short')).toBeNull();
    expect(() => pairingWords({ ...both.offer, key: 'short' }, both.inviter)).toThrow('32 bytes');
    expect(() => writeFace({ ...both.offer, signKey: 'short' })).toThrow('32 bytes');
  });
});
