/**
 * Every limit and pause of the relay's side of synchronisation. What an owner may set stands in
 * ../settings.ts.
 */
import { SYNC } from '../../src/shared/protocol/sync/settings.ts';

export const SYNC_LIMITS = {
  devices: SYNC.devices,
  /**
   * Sockets at once: of one household, and of all together, those included that have not said hello
   * yet.
   */
  householdSockets: 64,
  sockets: 512,
  /** ms that a socket may take for its hello. */
  helloMs: 10_000,
  /** Bytes of one message: an entry that goes alone, and what stands around it. */
  messageBytes: SYNC.entryBytes + 64 * 1024,
  /** Bytes of one text message: a rotation with a box for each device. */
  textBytes: 2 * 1024 * 1024,
  /** Levels and values of its JSON. */
  json: { depth: 32, values: 5_000 },
  /** Text messages of one socket: a second in the long run, and at once. */
  textsPerSecond: 20,
  textBurst: 200,
  /**
   * Bytes of messages that have arrived and are not worked through, from which on a socket is read
   * no further.
   */
  unreadBytes: 4 * 1024 * 1024,
  /** Bytes that a reader may let wait before it is cut; it resumes by its vector. */
  unsentBytes: 48 * 1024 * 1024,
  /** ms between two notes of when a device that is here was last seen. */
  noteSeenMs: 5 * 60_000,
  /**
   * Heartbeats without a sign of life, and without any of what waits to be read being taken, before
   * a socket is cut.
   */
  beatsSilent: 2,
  beatsUnread: 30,
  /**
   * ms that the other side has to close a socket in good order: always, and when the relay ends.
   */
  closeGraceMs: 2_000,
  endGraceMs: 500,
  /** Offers at once. */
  offers: 32,
  /** ms after its end that an offer cannot be made again. */
  offerKnownMs: 60 * 60_000,
  /** Proofs that failed: a second in the long run, and at once, of one browser at one address. */
  failuresPerSecond: 0.1,
  failureBurst: 10,
  /** Look-ups of recovery boxes, likewise. */
  lookupsPerSecond: 0.1,
  lookupBurst: 10,
  /** Rows that one reading of entries looks at, whatever its budget of bytes. */
  readRows: 4_096,
} as const;

/** What an owner may set. */
export interface SyncSettings {
  /** Households of this relay. */
  readonly households: number;
  /** Of these, households that one sign-in may bring. */
  readonly householdsBySignIn: number;
  /** Bytes of the sealed entries of one household. */
  readonly householdBytes: number;
}

/**
 * Tries are counted by sign-in and address, so that nobody uses up another's: neither who shares an
 * address, nor who shares a sign-in.
 */
export const triesKey = ({ browser, address }: { readonly browser: string; readonly address: string }): string =>
  `${browser} ${address}`;
