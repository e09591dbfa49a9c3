/** Every default and limit of the minds, in one place. */

/** Used where the person names no model. */
export const DEFAULT_MODELS = { lead: 'claude-opus-5-5', agent: 'claude-sonnet-5-5' } as const;

/** What the rehearsal mind calls itself. */
export const REHEARSAL_MODEL = 'rehearsal';

export const MIND_LIMITS = {
  /** ms to wait for an upstream to begin its answer. */
  requestTimeoutMs: 300_000,
  /** Tries after the first, by the SDK: lost connections, 408, 409, 429 and 5xx, with growing pauses. */
  retries: 2,
  /** Longest piece of an upstream's own words in a sentence for people. */
  upstreamDetail: 300,
} as const;

export const OFFICIAL_API = 'https://api.anthropic.com';

/**
 * Models that think adaptively: Claude 4.6 and later, and everything from 5 on. 4.5 and older take a token
 * budget instead and answer `adaptive` with a 400.
 */
export function thinksAdaptively(model: string): boolean {
  const match = /^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?:-|$)/.exec(model);
  if (!match) return model === 'claude-mythos-preview';
  const major = Number(match[1]);
  return major >= 5 || (major === 4 && Number(match[2] ?? 0) >= 6);
}
