import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { describe, expect, it } from 'vitest';
import { deviceKeys, openEntry, readKeys, recoveryOf } from '../../../../../src/worker/sync/crypto/index.ts';
import { LABEL } from '../../../../../src/worker/sync/crypto/settings.ts';
import * as independent from './independent.ts';
import { fromHex } from './independent.ts';
import { makeVectors, type Vectors } from './vectors.ts';

const file = new URL('vectors.json', import.meta.url);
const vectors: Vectors = JSON.parse(readFileSync(file, 'utf8'));
const hex = (text: string) => Buffer.from(text, 'base64url').toString('hex');
const utf8 = (text: string) => Buffer.from(text).toString('hex');
const uint = (value: number | bigint, bytes: number) => value.toString(16).padStart(bytes * 2, '0');
const sha256 = (bytesAsHex: string) => createHash('sha256').update(fromHex(bytesAsHex)).digest('hex');

interface Derivation {
  readonly secret: string;
  readonly salt: string;
  readonly info: string;
  readonly length: number;
  readonly output: string;
}
const rederive = ({ secret, salt, info, length }: Derivation) =>
  independent.hkdf(fromHex(secret), fromHex(salt), info, length);

interface Sealing {
  readonly payload: string;
  readonly plaintext: string;
  readonly key: string;
  readonly nonce: string;
  readonly aad: string;
  readonly sealed: string;
}
/** Checks everything behind the header, which it answers with. */
function headerOf({ payload, plaintext, key, nonce, aad, sealed }: Sealing): string {
  const bytes = fromHex(plaintext);
  const [flags, size, stored] = [bytes.readUInt8(0), bytes.readUInt32BE(1), bytes.readUInt32BE(5)];
  const content = bytes.subarray(9, 9 + stored);
  expect((flags === 1 ? inflateRawSync(content) : content).toString('hex')).toBe(payload);
  expect(size).toBe(payload.length / 2);
  expect(bytes.length).toBe(independent.padme(9 + stored));
  expect(bytes.subarray(9 + stored).every((byte) => byte === 0)).toBe(true);
  const ciphertext = independent.xchacha20poly1305(fromHex(key), fromHex(nonce), fromHex(aad), bytes).toString('hex');
  expect(sealed.endsWith(nonce + ciphertext)).toBe(true);
  return sealed.slice(0, sealed.length - nonce.length - ciphertext.length);
}

describe('the published vectors', () => {
  // SPEC 1.5
  it('reproduces the published vectors (run `vitest -u` after an intended change of a format)', async () => {
    await expect(`${JSON.stringify(makeVectors(), null, 2)}\n`).toMatchFileSnapshot('vectors.json');
  });
});

describe('the page about the formats', () => {
  const page = readFileSync(new URL('../../../../../src/worker/sync/SPEC.md', import.meta.url), 'utf8');

  // SPEC 2.1
  it('names every label that keys are derived and things are bound with', () => {
    expect(Object.values(LABEL).filter((label) => !page.includes(`\`${label}\``))).toEqual([]);
  });

  // SPEC 6.5
  it('states the true size of a document of 240 bytes', () => {
    const entry = vectors.entries.find(({ name }) => name === 'deflated');
    expect(page).toContain(`A document of 240 bytes takes ${(entry?.sealed.length ?? 0) / 2}.`);
  });
});

describe('another implementation, from the vectors alone, finds', () => {
  const { household, pairing, recovery, device, box, signal, relayAuth } = vectors;

  // SPEC 1.4
  it('HChaCha20 as its authors have it', () => {
    const { key, nonce, subkey } = vectors.hchacha20;
    expect(independent.hchacha20(fromHex(key), fromHex(nonce)).toString('hex')).toBe(subkey);
  });

  // SPEC 2.4
  it('the keyring as it is written', () => {
    expect(household.written).toBe(
      `01${household.bytes}${uint(household.keyring.length, 2)}${household.keyring.map(({ key }) => key).join('')}`,
    );
    expect(hex(household.id)).toBe(household.bytes);
  });

  // SPEC 2.1
  it('the keys of an epoch', () => {
    for (const { epoch, derived } of vectors.epochKeys) {
      expect(derived.map(({ info }) => info)).toEqual([
        'roost entry 1',
        'roost signal 1',
        'roost stream 1',
        'roost relay auth 1',
      ]);
      for (const derivation of derived) {
        expect(rederive(derivation)).toBe(derivation.output);
        expect(derivation).toMatchObject({ secret: household.keyring[epoch - 1]?.key, salt: '', length: 32 });
      }
    }
  });

  // SPEC 4.2
  it('the stream in a writer’s id', () => {
    const streamKey = vectors.epochKeys[0]?.derived[2]?.output ?? '';
    for (const { stream, random, message, hmac, writer, bytes } of vectors.writers) {
      expect(message).toBe(utf8(stream) + random);
      expect(independent.hmac(fromHex(streamKey), fromHex(message))).toBe(hmac);
      expect([bytes, hex(writer)]).toEqual([random + hmac.slice(0, 16), bytes]);
    }
  });

  // SPEC 5.4
  it('the size classes', () => {
    for (const { length, padded } of vectors.padding) expect(independent.padme(length)).toBe(padded);
  });

  // SPEC 5.1, 6.1, 6.6
  it('the sealed entries', () => {
    for (const entry of vectors.entries) {
      const header = `01${uint(entry.epoch, 2)}`;
      expect(headerOf(entry)).toBe(header);
      expect(entry.aad).toBe(
        utf8('roost entry 1') + header + hex(entry.household) + hex(entry.writer) + uint(BigInt(entry.counter), 8),
      );
      expect(entry.key).toBe(vectors.epochKeys[entry.epoch - 1]?.derived[0]?.output);
      expect(entry.digest).toBe(sha256(entry.sealed).slice(0, 32));
    }
    expect(vectors.entries.map(({ plaintext }) => plaintext.slice(0, 2))).toEqual(['00', '00', '01', '00']);
  });

  it('finds the signatures of the household and a device from the vectors alone', () => {
    expect(independent.publicKey('Ed25519', fromHex(relayAuth.seed))).toBe(relayAuth.publicKey);
    expect(relayAuth.seed).toBe(vectors.epochKeys[1]?.derived[3]?.output);
    expect(independent.signature(fromHex(relayAuth.seed), fromHex(relayAuth.message))).toBe(relayAuth.signature);
    expect(rederive(device.signHkdf)).toBe(device.signHkdf.output);
    expect(independent.publicKey('Ed25519', fromHex(device.signHkdf.output))).toBe(device.signKey);
    expect(independent.signature(fromHex(device.signHkdf.output), fromHex(device.message))).toBe(device.signature);
    expect(device.signHkdf).toMatchObject({ secret: device.seed, info: 'roost device sign 1', salt: '' });
  });

  // SPEC 2.2
  it('a device’s id, which follows from its keys', () => {
    expect(sha256(utf8('roost device id 1') + hex(device.signKey) + hex(device.boxKey))).toBe(device.idHash);
    expect(hex(device.deviceId)).toBe(device.idHash.slice(0, 32));
  });

  // SPEC 2.7, 3.2, 3.5, 13.1
  it('finds the statements of a device about itself, a phrase and the roll from the vectors alone', () => {
    const { records } = vectors;
    const { device: said, letIn, phrase, keyGrant } = records;
    const lines = (...parts: readonly (string | number)[]) => utf8(parts.join('\n'));
    expect(
      lines(
        'roost device 1',
        household.id,
        device.deviceId,
        device.signKey,
        device.boxKey,
        2,
        said.addedAt,
        said.time,
        `${said.letIn?.by} ${said.letIn?.time} ${said.letIn?.signature}`,
        said.name,
      ),
    ).toBe(said.message);
    expect(lines('roost let in 1', household.id, device.deviceId, said.letIn?.by ?? '', said.letIn?.time ?? 0)).toBe(
      letIn.message,
    );
    expect(rederive(letIn.inviterSignHkdf)).toBe(letIn.inviterSignHkdf.output);
    expect(independent.signature(fromHex(letIn.inviterSignHkdf.output), fromHex(letIn.message))).toBe(
      said.letIn?.signature,
    );
    expect(lines('roost phrase 1', household.id, recovery.id, recovery.boxKey, device.deviceId, 2, phrase.time)).toBe(
      phrase.message,
    );
    expect(lines('roost renewal 1', device.deviceId, keyGrant.keys, [...keyGrant.roll].sort().join(' '))).toBe(
      keyGrant.message,
    );
    for (const one of [said, phrase, keyGrant])
      expect(independent.signature(fromHex(device.signHkdf.output), fromHex(one.message))).toBe(one.signature);
    for (const one of [said, phrase])
      expect(independent.signature(fromHex(relayAuth.seed), fromHex(one.message))).toBe(one.proof);
  });

  // SPEC 6.1, 6.9
  it('a box for a device', () => {
    expect(rederive(device.boxHkdf)).toBe(device.boxHkdf.output);
    expect(device.boxHkdf).toMatchObject({ secret: device.seed, info: 'roost device box 1', salt: '' });
    expect(independent.publicKey('X25519', fromHex(device.boxHkdf.output))).toBe(device.boxKey);
    expect([box.receiverSecret, box.receiverKey]).toEqual([device.boxHkdf.output, hex(device.boxKey)]);
    expect(independent.shared(fromHex(box.receiverSecret), fromHex(box.ephemeralKey))).toBe(box.shared);
    expect(independent.shared(fromHex(box.ephemeralSecret), fromHex(box.receiverKey))).toBe(box.shared);
    expect(rederive(box.hkdf)).toBe(box.key);
    expect(box.hkdf).toMatchObject({
      secret: box.shared,
      salt: box.ephemeralKey + box.receiverKey,
      info: 'roost box 1',
    });
    expect(headerOf(box)).toBe(`01${box.ephemeralKey}`);
    expect(box.aad).toBe(`${utf8('roost box 1')}01${box.ephemeralKey}${box.receiverKey}`);
    expect(hex(box.box)).toBe(box.sealed);
  });

  // SPEC 6.1, 6.7
  it('a signal from one device to another', () => {
    expect(headerOf(signal)).toBe('010002');
    expect(signal.aad).toBe(`${utf8('roost signal 1')}010002${household.bytes}${hex(signal.from)}${hex(signal.to)}`);
    expect(signal.key).toBe(vectors.epochKeys[1]?.derived[1]?.output);
    expect(hex(signal.data)).toBe(signal.sealed);
  });

  // SPEC 9.1, 9.2, 9.3, 9.8
  it('an offer, its id and the six words', () => {
    const { offerKey, inviterKey } = pairing;
    expect(hex(independent.publicKey('X25519', fromHex(pairing.offerSecret)) ?? '')).toBe(offerKey);
    expect(hex(independent.publicKey('X25519', fromHex(pairing.inviterSecret)) ?? '')).toBe(inviterKey);
    expect(sha256(utf8('roost offer id 1') + offerKey)).toBe(pairing.offerIdHash);
    expect(hex(pairing.offerId)).toBe(pairing.offerIdHash.slice(0, 32));
    expect(sha256(utf8('roost offer check 1') + offerKey)).toBe(pairing.offerCheckHash);
    expect(pairing.offerText).toBe(
      `ROOST1.${independent.base32(fromHex(offerKey + pairing.offerCheckHash.slice(0, 8)))}`,
    );
    expect([pairing.offerFace.slice(0, 64), pairing.inviterFace.slice(0, 64)]).toEqual([offerKey, inviterKey]);
    expect(sha256(utf8('roost pairing words 1') + pairing.offerFace + pairing.inviterFace)).toBe(pairing.wordsHash);
    expect(
      independent
        .elevenBits(fromHex(pairing.wordsHash))
        .slice(0, 6)
        .map((at) => wordlist[at]),
    ).toEqual(pairing.words);
  });

  // SPEC 6.1, 9.9, 9.12
  it('the welcome, and the answer to it', () => {
    const both = pairing.offerFace + pairing.inviterFace;
    expect(independent.shared(fromHex(pairing.inviterSecret), fromHex(pairing.offerKey))).toBe(pairing.shared);
    for (const [message, info] of [
      [pairing.welcome, 'roost welcome 1'],
      [pairing.joined, 'roost joined 1'],
    ] as const) {
      expect(message.hkdf).toMatchObject({ secret: pairing.shared, salt: both, info });
      expect(rederive(message.hkdf)).toBe(message.key);
      expect(headerOf(message)).toBe('01');
      expect(message.aad).toBe(`${utf8(info)}01${both}`);
      expect(hex(message.data)).toBe(message.sealed);
    }
  });

  // SPEC 2.1
  it('the words of a phrase, the id of its box and its key', () => {
    const checksum = sha256(recovery.secret).slice(0, 2);
    expect(independent.elevenBits(fromHex(recovery.secret + checksum)).map((at) => wordlist[at])).toEqual(
      recovery.words,
    );
    expect(rederive(recovery.idHkdf)).toBe(hex(recovery.id));
    expect(recovery.idHkdf).toMatchObject({ secret: recovery.secret, salt: '', info: 'roost recovery id 1' });
    expect(rederive(recovery.boxHkdf)).toBe(recovery.boxHkdf.output);
    expect(recovery.boxHkdf).toMatchObject({ secret: recovery.secret, salt: '', info: 'roost recovery box 1' });
    expect(independent.publicKey('X25519', fromHex(recovery.boxHkdf.output))).toBe(recovery.boxKey);
  });
});

describe('this code, from the vectors alone,', () => {
  it('opens the entries, the box and the phrase', () => {
    const keys = readKeys(fromHex(vectors.household.written));
    if (!keys) throw new Error('The keyring of the vectors is not read.');
    for (const { writer, counter, sealed, payload } of vectors.entries) {
      const opened = openEntry({ keys, writer, counter, sealed: fromHex(sealed) });
      expect(opened.ok && Buffer.from(opened.payload).toString('hex')).toBe(payload);
    }
    const box = deviceKeys(fromHex(vectors.device.seed)).openBox(vectors.box.box);
    expect(Buffer.from(box ?? []).toString('hex')).toBe(vectors.household.written);
    expect(recoveryOf(vectors.recovery.words.join(' '))).toMatchObject({
      ok: true,
      id: vectors.recovery.id,
      boxKey: vectors.recovery.boxKey,
    });
  });
});
