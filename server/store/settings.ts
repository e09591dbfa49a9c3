/** Limits of the connection to a Postgres server. */
export interface DatabaseLimits {
  /** Concurrent connections. */
  readonly poolSize: number;
  /** ms to wait for a connection before the server counts as unreachable. */
  readonly connectMs: number;
  /** ms that a statement may be unanswered before the server is probed. */
  readonly doubtMs: number;
  /** ms for the answer to a probe. */
  readonly probeMs: number;
  /** ms between two probes during an outage: doubling, up to the second value. */
  readonly backoffFirst: number;
  readonly backoffMost: number;
  /** ms that statements wait during an outage. */
  readonly patienceMs: number;
  /** ms after an outage that a statement from before it may stay unanswered. */
  readonly staleMs: number;
  /** ms between two synchronisations with the database's clock. */
  readonly clockEveryMs: number;
  /**
   * ms by which the wall clock may depart from the monotonic one before the clock is synchronised
   * at once.
   */
  readonly clockDriftMs: number;
  /**
   * ms by which a synchronisation may change the clock. After a larger step, others may not have
   * been able to renew their leases.
   */
  readonly clockStepMs: number;
  /** ms that an ending relay waits for an outage. */
  readonly leaveMs: number;
}

export const DATABASE_LIMITS: DatabaseLimits = {
  poolSize: 8,
  connectMs: 10_000,
  doubtMs: 2_000,
  probeMs: 2_000,
  backoffFirst: 250,
  backoffMost: 2_000,
  patienceMs: 600_000,
  staleMs: 10_000,
  clockEveryMs: 600_000,
  clockDriftMs: 1_000,
  clockStepMs: 5_000,
  leaveMs: 2_000,
};

/** Limits of the embedded store. */
export const EMBEDDED_LIMITS = {
  /** ms to wait for a file that another process has open. */
  busyMs: 1_000,
  /** Bytes of the write-ahead log that stay on disk after its content is in the file. */
  walBytes: 8 * 2 ** 20,
  /** KiB of the file that are held in memory. */
  cacheKb: 8 * 1_024,
  /**
   * Statements that stay prepared. The relay has a few hundred, and lists of varying length add
   * more.
   */
  preparedMost: 500,
  /** Statements that share one commit. */
  togetherMost: 200,
  /** Earlier kinds of store that may lie beside this one. */
  setAsideMost: 20,
} as const;
