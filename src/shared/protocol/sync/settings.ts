/** Every limit and pause of synchronisation that both ends of the line know. */
export const SYNC = {
  /** Ids of households, devices and writers: random bytes, written as base64url (22 characters). */
  idBytes: 16,
  /** Devices of one household; those that were removed do not count. */
  devices: 32,
  /** One sealed entry, in bytes. A document of a million characters fits. */
  entryBytes: 16 * 1024 * 1024,
  /** A frame of entries aims at this many bytes; an entry that is larger goes alone. */
  frameBytes: 256 * 1024,
  /** A frame of a list of ranges, in bytes. */
  listBytes: 4 * 1024 * 1024,
  /** ms that an offer to join lives; it works once. */
  offerMs: 5 * 60_000,
  /** What lies in a slot of an offer, in base64url characters. */
  slotChars: 256 * 1024,
  /** A signal between two devices, in characters. */
  signalChars: 64 * 1024,
  /**
   * ms: something is said on the socket at least this often; a client may take twice this silence
   * for a loss.
   */
  heartbeatMs: 10_000,
} as const;
