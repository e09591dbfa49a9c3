/**
 * Whether a request that failed can have cost anything: not where the connection it was to go over
 * never came about.
 */

/** As Node and undici name them. */
const UNSENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Looks through the causes: the SDK puts its own error around the runtime's. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'code' in error && typeof error.code === 'string' ? UNSENT.has(error.code) : isUnsent(error.cause);
}
