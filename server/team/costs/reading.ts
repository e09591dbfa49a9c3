/**
 * How many tokens a request of so many bytes comes to. Each model's server counts in its own way:
 * what it counted of earlier requests tells, and until there are some a usual figure holds.
 */
import { inputOf, type TokenCount } from '../../../src/shared/domain/prices.ts';
import { COST_LIMITS } from './settings.ts';

interface Known {
  /** Bytes to a token, of the newest requests. */
  readonly densities: number[];
  /** Whether its server keeps a cache. */
  caches: boolean;
}

export interface Reading {
  /**
   * `bytes`: of a request without pictures; `count`: what its server told of it. What cannot be so
   * is passed over.
   */
  learn(model: string, bytes: number, count: TokenCount): void;
  /** Of requests in order, each of which begins with all of the one before it. */
  expect(model: string, bytes: readonly number[]): TokenCount;
}

const middleOf = (values: readonly number[]): number | undefined =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export function createReading(): Reading {
  const models = new Map<string, Known>();

  return {
    learn(model, bytes, count) {
      const density = bytes / inputOf(count);
      const { bytesPerTokenLeast: least, bytesPerTokenMost: most, modelsKnown, densitiesKept } = COST_LIMITS;
      if (!(density >= least && density <= most)) return;
      const known = models.get(model) ?? { densities: [], caches: false };
      known.densities.push(density);
      if (known.densities.length > densitiesKept) known.densities.shift();
      known.caches = count.cacheReadTokens + count.cacheWriteTokens > 0;
      models.set(model, known);
      for (const oldest of models.keys()) {
        if (models.size <= modelsKnown) break;
        models.delete(oldest);
      }
    },
    expect(model, bytes) {
      const known = models.get(model);
      const density = middleOf(known?.densities ?? []) ?? COST_LIMITS.bytesPerToken;
      const caches = known?.caches ?? true;
      let [inputTokens, cacheReadTokens, cacheWriteTokens, before] = [0, 0, 0, 0];
      for (const each of bytes) {
        const tokens = Math.ceil(each / density);
        if (caches) {
          cacheReadTokens += Math.min(before, tokens);
          cacheWriteTokens += Math.max(0, tokens - before);
        } else inputTokens += tokens;
        before = tokens;
      }
      return { model, inputTokens, outputTokens: 0, cacheReadTokens, cacheWriteTokens };
    },
  };
}
