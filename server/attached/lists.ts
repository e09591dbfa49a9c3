/** Lists that a server gives page by page: bounded in total, and ended where the next page makes no sense. */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { sentence } from '../../src/domain/sentence.ts';

/** Cursors of one list. */
export interface Cursors {
  /** What to ask the next page with; undefined: there is none. A server that names a page twice would never end. */
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

/** Requests that have `ms` for all of them together. Each throws a sentence where that is over. `elapsed`: ms, only ever forward. */
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
