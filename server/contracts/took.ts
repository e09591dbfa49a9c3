/** What a request to a model took, as its answer says. */
import type { Terms, Untold } from '../../src/shared/domain/request-cost.ts';
import type { Usage } from '../../src/shared/protocol/documents.ts';

/** What a request took, as far as its model told it; null: it was sent, and nothing was told. */
export type Took = {
  readonly usage: Usage;
  /** It told all of it. Else what was written is not known. */
  readonly whole: boolean;
  /** The part of the cache writes that stays for an hour. */
  readonly hourCacheWrites?: number;
  /** Millionths of a dollar that a program says it cost, where nothing else is known. */
  readonly reportedMicroUsd?: number;
  /** Searches that the server made. */
  readonly searches?: number;
  /** As far as it told them. */
  readonly terms?: Partial<Terms>;
  /** Not whole: the most that it wrote, where that is known better than by the longest answer. */
  readonly outputMost?: number;
  /** What its model said nothing of; left out: it told both. */
  readonly untold?: Untold;
} | null;
