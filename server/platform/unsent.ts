/**
 * Whether a failed request can have cost anything. It cannot if its connection was never
 * established.
 */

/** Error codes of Node and undici. */
const UNSENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Searches the chain of causes, because the SDK wraps the runtime's error. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'code' in error && typeof error.code === 'string' ? UNSENT.has(error.code) : isUnsent(error.cause);
}
