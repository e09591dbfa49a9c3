/**
 * What a turn of a program comes to: how it failed, and what it reports to have cost, which is of
 * its whole session so far.
 */
import type { MindAnswer, MindErrorKind } from '../../agents/minds/index.ts';

export const failed = (kind: MindErrorKind, message: string, text: string): MindAnswer => ({
  ok: false,
  error: { kind, message },
  blocks: text === '' ? [] : [{ kind: 'text', text }],
  usage: null,
  whole: true,
  outputMost: null,
});

export interface Reported {
  /** A session that had reported so many US dollars before. */
  begin(dollars: number): void;
  /** US dollars that its session has reported. */
  soFar(): number;
  /** Of the turn that ends with this report; null: it made none. */
  spent(dollars: number | null): Pick<MindAnswer, 'usage' | 'reportedMicroUsd'>;
}

/**
 * `name`: stands for its model, which is not told; `countsItself`: nothing that it reports is
 * counted.
 */
export function createReported(name: string, countsItself: boolean): Reported {
  let before = 0;
  return {
    begin: (dollars) => void (before = dollars),
    soFar: () => before,
    spent(dollars) {
      if (countsItself || dollars === null) return { usage: null };
      // One that counts anew in a session that it goes on with has told less than before.
      const spent = dollars < before ? dollars : dollars - before;
      before = dollars;
      const usage = { model: name, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
      // A difference of two such figures is a hair more or less than it is.
      return { usage, reportedMicroUsd: Math.ceil(Number((spent * 1_000_000).toFixed(3))) };
    },
  };
}
