/**
 * Every size and label of the cryptography. The labels keep a key of one purpose from serving
 * another.
 */
import { SYNC } from '../../../shared/protocol/sync/settings.ts';

/** Space for version, keys, nonce and tag beside a plaintext. */
const AROUND = 128;
const fromChars = (chars: number) => (chars / 4) * 3 - AROUND;

export const CRYPTO = {
  /** The first byte of everything sealed. Bump this when the format changes. */
  version: 1,
  keyBytes: 32,
  nonceBytes: 24,
  tagBytes: 16,
  /** The least size of a plaintext. */
  leastPadded: 256,
  /** The largest payload, and the largest size that a deflated one may declare. */
  mostPayload: SYNC.entryBytes,
  /** The largest plaintext that can be sent, in bytes with padding. */
  mostPlaintext: {
    entry: SYNC.entryBytes - AROUND,
    slot: fromChars(SYNC.slotChars),
    signal: fromChars(SYNC.signalChars),
  },
  /** Deflated bytes are inflated in steps of this many, so a wrong length shows early. */
  inflateStep: 16 * 1024,
  mostEpoch: 65_535,
} as const;

/** Info of HKDF-SHA256, and the beginning of associated data. */
export const LABEL = {
  entry: 'roost entry 1',
  signal: 'roost signal 1',
  stream: 'roost stream 1',
  relayAuth: 'roost relay auth 1',
  deviceSign: 'roost device sign 1',
  deviceBox: 'roost device box 1',
  deviceId: 'roost device id 1',
  box: 'roost box 1',
  offerId: 'roost offer id 1',
  offerCheck: 'roost offer check 1',
  words: 'roost pairing words 1',
  welcome: 'roost welcome 1',
  joined: 'roost joined 1',
  recoveryId: 'roost recovery id 1',
  recoveryBox: 'roost recovery box 1',
} as const;
export type Label = (typeof LABEL)[keyof typeof LABEL];
