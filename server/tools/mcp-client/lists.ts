/**
 * Lists that a server gives page by page: bounded in total, and ended where the next page makes no
 * sense.
 */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { sentence } from '../../../src/shared/domain/sentence.ts';

/** Cursors of one list. */
export interface Cursors {
  /**
   * The cursor of the next page; undefined: there is none, or the server named it before and would
   * never end.
   */
  next(named: unknown): string | undefined;
}

export function createCursors(): Cursors {
  const seen = new Set<string>();
  return {
    next(named) {
      if (typeof named !== 'string' || named === '' || seen.has(named)) return undefined;
      seen.add(named);
      return named;
    },
  };
}

interface Times {
  readonly timeout: number;
  readonly maxTotalTimeout: number;
}

/**
 * One time-out of `ms` for several requests together. After it each throws a sentence. `elapsed`: a
 * monotonic clock, in ms.
 */
export function createDeadline(
  ms: number,
  elapsed: () => number,
): <Value>(request: (times: Times) => Promise<Value>) => Promise<Value> {
  const until = elapsed() + ms;
  const late = (cause?: unknown) =>
    new Error(sentence`its list timed out: it took longer than ${ms / 1_000} seconds`, { cause });
  return async (request) => {
    const left = until - elapsed();
    if (left <= 0) throw late();
    try {
      return await request({ timeout: left, maxTotalTimeout: left });
    } catch (error) {
      throw error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout ? late(error) : error;
    }
  };
}
