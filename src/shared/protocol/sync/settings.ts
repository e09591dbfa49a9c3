/** Limits and delays of synchronisation that both sides know. */
export const SYNC = {
  /** Ids of households, devices and writers: random bytes, written as base64url (22 characters). */
  idBytes: 16,
  /** Devices of one household, without removed ones. */
  devices: 32,
  /** One sealed entry, in bytes. A document of a million characters fits. */
  entryBytes: 16 * 1024 * 1024,
  /** Target size of a frame of entries. A larger entry has its own frame. */
  frameBytes: 256 * 1024,
  /** A frame of a list of ranges, in bytes. */
  listBytes: 4 * 1024 * 1024,
  /** ms that an offer to join is valid. It works once. */
  offerMs: 5 * 60_000,
  /** Content of an offer's slot, in base64url characters. */
  slotChars: 256 * 1024,
  /** A signal between two devices, in characters. */
  signalChars: 64 * 1024,
  /**
   * Maximum ms of silence on the socket. A client may treat twice this silence as a lost
   * connection.
   */
  heartbeatMs: 10_000,
} as const;
