/** Every limit of the connection to a Postgres server, in one place. */
export interface DatabaseLimits {
  /** ms between two times that the clock is set by the database's. */
  readonly clockEveryMs: number;
  /** ms by which the wall clock may go another way than the monotonic one before the clock is set at once. */
  readonly clockDriftMs: number;
  /** ms by which the clock may change when it is set: beyond that others may not have been able to renew their leases. */
  readonly clockStepMs: number;
}

export const DATABASE_LIMITS: DatabaseLimits = {
  clockEveryMs: 600_000,
  clockDriftMs: 1_000,
  clockStepMs: 5_000,
};
