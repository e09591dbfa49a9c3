/** Bounds of records that are given back. */
export const RECORD_LIMITS = {
  /** Parts of records that wait for the person's yes, of one household. */
  asked: 500,
} as const;
