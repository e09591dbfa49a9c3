/**
 * Limits and pauses of the relay's side of synchronisation. The relay's owner can set only
 * `SyncSettings`.
 */
import { SYNC } from '../../src/shared/protocol/sync/settings.ts';

export const SYNC_LIMITS = {
  devices: SYNC.devices,
  /**
   * Concurrent sockets: per household, and in total, including those that have not sent a hello
   * yet.
   */
  householdSockets: 64,
  sockets: 512,
  /** ms that a socket may take for its hello. */
  helloMs: 10_000,
  /** Bytes of one message: a single entry with its envelope. */
  messageBytes: SYNC.entryBytes + 64 * 1024,
  /** Bytes of one text message: a rotation with a box for each device. */
  textBytes: 2 * 1024 * 1024,
  /** Depth and number of values of its JSON. */
  json: { depth: 32, values: 5_000 },
  /** Text messages of one socket: per second in the long run, and at once. */
  textsPerSecond: 20,
  textBurst: 200,
  /** Bytes of unprocessed messages from which on a socket is not read further. */
  unreadBytes: 4 * 1024 * 1024,
  /** Unsent bytes after which a socket is cut. The device resumes by its vector. */
  unsentBytes: 48 * 1024 * 1024,
  /** ms between two updates of when a connected device was last seen. */
  noteSeenMs: 5 * 60_000,
  /**
   * Heartbeats without a sign of life, and without any unsent data being taken, before a socket is
   * cut.
   */
  beatsSilent: 2,
  beatsUnread: 30,
  /**
   * ms that the other side has to close a socket in good order: normally, and when the relay ends.
   */
  closeGraceMs: 2_000,
  endGraceMs: 500,
  /** Concurrent offers. */
  offers: 32,
  /** ms after its end during which an offer cannot be made again. */
  offerKnownMs: 60 * 60_000,
  /** Failed proofs of one browser at one address: per second in the long run, and at once. */
  failuresPerSecond: 0.1,
  failureBurst: 10,
  /** Look-ups of recovery boxes, likewise. */
  lookupsPerSecond: 0.1,
  lookupBurst: 10,
  /** Rows that one read of entries examines, whatever its budget of bytes. */
  readRows: 4_096,
} as const;

/** The owner's settings. */
export interface SyncSettings {
  /** Households of this relay. */
  readonly households: number;
  /** Of these, households that one sign-in may bring. */
  readonly householdsBySignIn: number;
  /** Bytes of the sealed entries of one household. */
  readonly householdBytes: number;
}

/**
 * Attempts are counted by sign-in and address. So nobody uses up the attempts of another who shares
 * only one of them.
 */
export const triesKey = ({ browser, address }: { readonly browser: string; readonly address: string }): string =>
  `${browser} ${address}`;
