/** A token bucket per caller: `burst` calls at once, `perSecond` in the long run. */
export interface RateLimit {
  /** Takes one token. 0: go on; otherwise the seconds, rounded up, until there is one. */
  take(caller: string): number;
  /** The same answer, and takes none. */
  wait(caller: string): number;
}

export interface RateLimitDeps {
  readonly perSecond: number;
  readonly burst: number;
  /** ms, only ever forward: a clock that goes back must not refuse anybody. */
  readonly elapsed: () => number;
}

/** Callers whose bucket is full again are forgotten once there are this many. */
const CALLERS_KEPT = 1_000;

export function createRateLimit({ perSecond, burst, elapsed }: RateLimitDeps): RateLimit {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const fill = (bucket: { tokens: number; at: number }) =>
    Math.min(burst, bucket.tokens + ((elapsed() - bucket.at) / 1_000) * perSecond);
  const secondsOf = (tokens: number) => (tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perSecond));
  return {
    wait(caller) {
      const bucket = buckets.get(caller);
      return bucket ? secondsOf(fill(bucket)) : 0;
    },
    take(caller) {
      if (buckets.size > CALLERS_KEPT)
        for (const [key, bucket] of buckets) if (fill(bucket) >= burst) buckets.delete(key);
      const bucket = buckets.get(caller) ?? { tokens: burst, at: elapsed() };
      const tokens = fill(bucket);
      buckets.set(caller, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: elapsed() });
      return secondsOf(tokens);
    },
  };
}
