/** Every limit of the connection to a Postgres server, in one place. */
export interface DatabaseLimits {
  /** Connections at once. */
  readonly poolSize: number;
  /** ms to wait for a connection before the server counts as out of reach. */
  readonly connectMs: number;
  /** ms that a statement may be unanswered before the server is asked whether it is there. */
  readonly doubtMs: number;
  /** ms for its answer to that. */
  readonly probeMs: number;
  /** ms between two such questions while it is away: doubling, up to the second. */
  readonly backoffFirst: number;
  readonly backoffMost: number;
  /** ms that statements wait for a server that is away. */
  readonly patienceMs: number;
  /** ms after an outage that a statement may stay unanswered which was sent before it. */
  readonly staleMs: number;
  /** ms between two times that the clock is set by the database's. */
  readonly clockEveryMs: number;
  /**
   * ms by which the wall clock may go another way than the monotonic one before the clock is set at
   * once.
   */
  readonly clockDriftMs: number;
  /**
   * ms by which the clock may change when it is set: beyond that others may not have been able to
   * renew their leases.
   */
  readonly clockStepMs: number;
  /** ms that a relay which is ended waits for a server that is away. */
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
