/**
 * Pauses of pairing. How long an offer lives is known to both ends of the line, in
 * src/shared/protocol/sync/settings.ts.
 */
export const PAIRING = {
  /** ms between two looks at a slot that is still empty. */
  lookMs: 700,
} as const;
