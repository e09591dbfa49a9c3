/**
 * The published vectors: every step of every format, made with fixed randomness. All bytes are hex,
 * lower case; what is text on the wire (ids, keys, boxes) is given as that text too.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { x25519 } from '@noble/curves/ed25519.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex as hex, concatBytes, utf8ToBytes as utf8 } from '@noble/hashes/utils.js';
import {
  deviceBytes,
  letInBytes,
  phraseBytes,
  registrationBytes,
  signedGrantBytes,
} from '../../../../../src/shared/protocol/sync/control.ts';
import type { EpochKey, HouseholdKeys, Stream, RandomBytes } from '../../../../../src/worker/sync/contract.ts';
import {
  base64url,
  deviceKeys,
  digestOf,
  fromBase64url,
  newHousehold,
  newId,
  newInvitation,
  newOffer,
  newPhrase,
  newWriter,
  pairingWords,
  recoveryOf,
  relayAuth,
  renewed,
  sealBox,
  sealEntry,
  sealJoined,
  sealSignal,
  sealWelcome,
  writeFace,
  type DeviceKeys,
  type PairingFace,
  writeKeys,
} from '../../../../../src/worker/sync/crypto/index.ts';
import { deviceRecord, letInBy, recoveryRecord } from '../../../../../src/worker/sync/data-worker/records.ts';
import { derive, padded } from '../../../../../src/worker/sync/crypto/box.ts';
import { CRYPTO, LABEL, type Label } from '../../../../../src/worker/sync/crypto/settings.ts';

/**
 * Randomness that is the same each time: SHA-256 of a name and a number. `last` is the draw before.
 */
function createFixed(name: string) {
  let count = 0;
  let last: Uint8Array = new Uint8Array(0);
  const random: RandomBytes = (length) => {
    count += 1;
    last = sha256(utf8(`${name} ${count}`)).subarray(0, length);
    return last;
  };
  return { random, last: () => last };
}
const fixed = (name: string) => createFixed(name).random;
const seedOf = (name: string) => fixed(name)(32);
const bytesOf = (text: string) => fromBase64url(text) ?? new Uint8Array(0);

const hkdf = (secret: Uint8Array, info: Label, salt = new Uint8Array(0), length = 32) => ({
  secret: hex(secret),
  salt: hex(salt),
  info,
  length,
  output: hex(derive(secret, info, salt, length)),
});

/** One use of XChaCha20-Poly1305, and of the plaintext in it. */
function sealing(options: {
  readonly key: Uint8Array;
  readonly aad: Uint8Array;
  readonly payload: Uint8Array;
  readonly sealed: Uint8Array;
  readonly headerBytes: number;
}) {
  const nonce = options.sealed.subarray(options.headerBytes, options.headerBytes + CRYPTO.nonceBytes);
  return {
    payload: hex(options.payload),
    plaintext: hex(
      xchacha20poly1305(options.key, nonce, options.aad).decrypt(
        options.sealed.subarray(options.headerBytes + CRYPTO.nonceBytes),
      ),
    ),
    key: hex(options.key),
    nonce: hex(nonce),
    aad: hex(options.aad),
    sealed: hex(options.sealed),
  };
}

const keyOf = (keys: HouseholdKeys, epoch: number): EpochKey => {
  const found = keys.keyring[epoch - 1];
  if (!found) throw new Error(`There is no epoch ${epoch}.`);
  return found;
};
const header = (epoch: number) => Uint8Array.of(CRYPTO.version, epoch >> 8, epoch & 255);
const uint64 = (value: number) => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
};

function writerVector(keys: HouseholdKeys, stream: Stream) {
  const { random, last } = createFixed(`writer ${stream}`);
  const writer = newWriter(keys, stream, random);
  const message = concatBytes(utf8(stream), last());
  return {
    stream,
    random: hex(last()),
    message: hex(message),
    hmac: hex(hmac(sha256, derive(keyOf(keys, 1).key, LABEL.stream), message)),
    writer,
    bytes: hex(bytesOf(writer)),
  };
}

function entryVector(name: string, keys: HouseholdKeys, writer: string, counter: number, payload: Uint8Array) {
  const epoch = keys.keyring.length;
  const sealed = sealEntry({ keys, writer, counter, payload, random: fixed(`entry ${name}`) });
  const aad = concatBytes(utf8(LABEL.entry), header(epoch), bytesOf(keys.household), bytesOf(writer), uint64(counter));
  const key = derive(keyOf(keys, epoch).key, LABEL.entry);
  return {
    name,
    epoch,
    household: keys.household,
    writer,
    counter,
    ...sealing({ key, aad, payload, sealed, headerBytes: 3 }),
    digest: digestOf(sealed),
  };
}

function boxVector(receiver: { readonly secret: Uint8Array; readonly key: string }, payload: Uint8Array) {
  const ephemeralSecret = seedOf('box');
  // The first draw of a box is its ephemeral secret, and the second one its nonce.
  const draws = [ephemeralSecret, fixed('box nonce')(CRYPTO.nonceBytes)];
  const box = sealBox(receiver.key, payload, () => draws.shift() ?? new Uint8Array(0));
  const sealed = bytesOf(box);
  const [ephemeral, receiverKey] = [sealed.subarray(1, 33), bytesOf(receiver.key)];
  const shared = x25519.getSharedSecret(ephemeralSecret, receiverKey);
  const salt = concatBytes(ephemeral, receiverKey);
  const aad = concatBytes(utf8(LABEL.box), sealed.subarray(0, 33), receiverKey);
  return {
    receiverSecret: hex(receiver.secret),
    receiverKey: hex(receiverKey),
    ephemeralSecret: hex(ephemeralSecret),
    ephemeralKey: hex(ephemeral),
    shared: hex(shared),
    hkdf: hkdf(shared, LABEL.box, salt),
    ...sealing({ key: derive(shared, LABEL.box, salt), aad, payload, sealed, headerBytes: 33 }),
    box,
  };
}

function pairingVector() {
  const offer = newOffer(fixed('offer'));
  const invitation = newInvitation(fixed('invitation'));
  const faceOf = (key: string, name: string): PairingFace => {
    const { signKey, boxKey } = deviceKeys(seedOf(name));
    return { key, signKey, boxKey };
  };
  const both = {
    offer: faceOf(offer.publicKey, 'new device'),
    inviter: faceOf(invitation.publicKey, 'inviting device'),
  };
  const [offerKey, inviterKey] = [bytesOf(both.offer.key), bytesOf(both.inviter.key)];
  const [offerFace, inviterFace] = [bytesOf(writeFace(both.offer)), bytesOf(writeFace(both.inviter))];
  const shared = x25519.getSharedSecret(offer.secret, inviterKey);
  const salt = concatBytes(offerFace, inviterFace);
  const message = (label: Label, payload: Uint8Array, data: string) => {
    const aad = concatBytes(utf8(label), Uint8Array.of(CRYPTO.version), salt);
    return {
      hkdf: hkdf(shared, label, salt),
      ...sealing({ key: derive(shared, label, salt), aad, payload, sealed: bytesOf(data), headerBytes: 1 }),
      data,
    };
  };
  return {
    offerSecret: hex(offer.secret),
    offerKey: hex(offerKey),
    offerIdHash: hex(sha256(concatBytes(utf8(LABEL.offerId), offerKey))),
    offerId: offer.offerId,
    offerCheckHash: hex(sha256(concatBytes(utf8(LABEL.offerCheck), offerKey))),
    offerText: offer.text,
    inviterSecret: hex(invitation.secret),
    inviterKey: hex(inviterKey),
    offerFace: hex(offerFace),
    inviterFace: hex(inviterFace),
    wordsHash: hex(sha256(concatBytes(utf8(LABEL.words), salt))),
    words: pairingWords(both.offer, both.inviter),
    shared: hex(shared),
    welcome: message(
      LABEL.welcome,
      utf8('the keys'),
      sealWelcome({ secret: invitation.secret, ...both }, utf8('the keys'), fixed('welcome')),
    ),
    joined: message(
      LABEL.joined,
      utf8('here'),
      sealJoined({ secret: offer.secret, ...both }, utf8('here'), fixed('joined')),
    ),
  };
}

function recoveryVector() {
  const secret = seedOf('phrase');
  const words = newPhrase(() => secret).words;
  const recovery = recoveryOf(words.join(' '));
  if (!recovery.ok) throw new Error(recovery.reason);
  return {
    secret: hex(secret),
    words,
    idHkdf: hkdf(secret, LABEL.recoveryId),
    id: recovery.id,
    boxHkdf: hkdf(secret, LABEL.recoveryBox),
    boxKey: recovery.boxKey,
  };
}

/** What a device says of itself, of a phrase it made, and of keys that it renewed. */
function recordVectors(keys: HouseholdKeys, device: DeviceKeys) {
  const inviter = seedOf('inviter');
  const letIn = letInBy(keys, deviceKeys(inviter), device.deviceId, 1_700_000_000_000);
  const record = deviceRecord(keys, device, {
    name: 'Ada’s laptop\nand more',
    addedAt: 1_700_000_000_000,
    time: 1_700_000_000_001,
    letIn,
  });
  const phrase = recoveryRecord(keys, device, {
    id: recoveryVector().id,
    boxKey: recoveryVector().boxKey,
    time: 1_700_000_000_002,
  });
  const [keysText, members] = [base64url(writeKeys(keys)), [newId(fixed('member')), device.deviceId]];
  const keyGrant = signedGrantBytes(device.deviceId, keysText, members);
  return {
    letIn: {
      inviterSignHkdf: hkdf(inviter, LABEL.deviceSign),
      message: hex(letInBytes(keys.household, device.deviceId, letIn.by, letIn.time)),
    },
    device: { ...record, message: hex(deviceBytes(keys.household, record)) },
    phrase: { ...phrase, message: hex(phraseBytes(keys.household, phrase)) },
    keyGrant: {
      by: device.deviceId,
      keys: keysText,
      roll: members,
      message: hex(keyGrant),
      signature: device.sign(keyGrant),
    },
  };
}

export function makeVectors() {
  const first = newHousehold(fixed('household'));
  const keys = renewed(first, fixed('renewed'));
  const people = writerVector(keys, 'people');
  const talk = writerVector(keys, 'talk');
  const seed = seedOf('device');
  const device = deviceKeys(seed);
  const boxSecret = derive(seed, LABEL.deviceBox);
  const auth = relayAuth(keyOf(keys, 2));
  const proof = registrationBytes(keys.household, 2, talk.writer, device.signKey);
  const [from, to] = [people.writer, talk.writer];
  const signal = sealSignal(keys, from, to, 'v=0', fixed('signal'));
  return {
    version: CRYPTO.version,
    hchacha20: {
      source: 'draft-irtf-cfrg-xchacha-03, section 2.2.1',
      key: '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
      nonce: '000000090000004a0000000031415927',
      subkey: '82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc',
    },
    household: {
      id: keys.household,
      bytes: hex(bytesOf(keys.household)),
      keyring: keys.keyring.map(({ epoch, key }) => ({ epoch, key: hex(key) })),
      written: hex(writeKeys(keys)),
    },
    epochKeys: keys.keyring.map(({ epoch, key }) => ({
      epoch,
      derived: [LABEL.entry, LABEL.signal, LABEL.stream, LABEL.relayAuth].map((label) => hkdf(key, label)),
    })),
    writers: [people, talk],
    padding: [0, 1, 256, 257, 288, 289, 1_000, 65_537, 1_000_000, 16_777_215].map((length) => ({
      length,
      padded: padded(length),
    })),
    entries: [
      entryVector('empty', first, talk.writer, 1, new Uint8Array(0)),
      entryVector('short', first, people.writer, 2, utf8('{"said":"good morning"}')),
      entryVector('deflated', keys, talk.writer, 65_536, utf8(`{"said":"${'good morning '.repeat(18)}"}`)),
      entryVector(
        'random bytes',
        keys,
        talk.writer,
        Number.MAX_SAFE_INTEGER,
        concatBytes(...Array.from({ length: 10 }, (_, at) => seedOf(`payload ${at}`))),
      ),
    ],
    relayAuth: {
      epoch: 2,
      seed: hex(derive(keyOf(keys, 2).key, LABEL.relayAuth)),
      publicKey: auth.publicKey,
      message: hex(proof),
      signature: auth.sign(proof),
    },
    device: {
      seed: hex(seed),
      signHkdf: hkdf(seed, LABEL.deviceSign),
      signKey: device.signKey,
      boxHkdf: hkdf(seed, LABEL.deviceBox),
      boxKey: device.boxKey,
      idHash: hex(sha256(concatBytes(utf8(LABEL.deviceId), bytesOf(device.signKey), bytesOf(device.boxKey)))),
      deviceId: device.deviceId,
      message: hex(proof),
      signature: device.sign(proof),
    },
    records: recordVectors(keys, device),
    box: boxVector({ secret: boxSecret, key: device.boxKey }, writeKeys(keys)),
    signal: {
      from,
      to,
      ...sealing({
        key: derive(keyOf(keys, 2).key, LABEL.signal),
        aad: concatBytes(utf8(LABEL.signal), header(2), bytesOf(keys.household), bytesOf(from), bytesOf(to)),
        payload: utf8('v=0'),
        sealed: bytesOf(signal),
        headerBytes: 3,
      }),
      data: signal,
    },
    pairing: pairingVector(),
    recovery: recoveryVector(),
  };
}
export type Vectors = ReturnType<typeof makeVectors>;
