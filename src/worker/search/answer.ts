/**
 * What is found for a question: ranked by the index, then by how the words stand together in the
 * best.
 */
import type { Passage } from '../../shared/protocol/search.ts';
import type { Builder } from './builder.ts';
import { placeOf, searchableOf, type Searchable } from './documents.ts';
import { createFinder } from './passage.ts';
import { rank } from './query.ts';
import type { SearchedLedger } from './searched-ledger.ts';
import { SEARCH } from './settings.ts';
import { typedTokens, wantedOf } from './words.ts';

export interface Question {
  /** As it was typed. */
  readonly text: string;
  /** Terms: a document must stand under one of each of these. */
  readonly filters: readonly (readonly string[])[];
  /** ms since the epoch: not earlier than that; 0: whenever. */
  readonly since: number;
  readonly limit: number;
  /** Characters of a passage; left out: as many as people are shown. */
  readonly room?: number;
  /** What may be found; left out: all. */
  readonly admits?: (said: Searchable) => boolean;
}

export interface Found {
  /** The document's. */
  readonly id: string;
  readonly said: Searchable;
  /** Of the thread, or the name of what is planned; null: not known here. */
  readonly title: string | null;
  readonly passage: Passage;
}

export interface AnswerDeps {
  readonly ledger: Pick<SearchedLedger, 'found'>;
  readonly index: Pick<Builder, 'segments' | 'idsOf'>;
  /** ms since the epoch */
  readonly now: number;
  /** Lets others have their turn, where it is time. */
  readonly pause: () => Promise<void>;
}

/** How well the words stand together counts as much as about this many rare words. */
const IN_ORDER = 8;
const COVERED = 4;
const CLOSE = 1;

/** The best first. */
export async function answerTo(
  { text, filters, since, limit, room, admits }: Question,
  { ledger, index, now, pause }: AnswerDeps,
): Promise<{ readonly found: readonly Found[]; readonly more: boolean }> {
  const typed = typedTokens(text);
  const wanted = wantedOf(typed, /[\p{L}\p{N}\p{M}]$/u.test(text));
  const segments = await index.segments();
  // Whoever asks for nothing is about to ask for something: what every answer needs is read by now.
  if (wanted.length === 0) return { found: [], more: false };
  const most = Math.max(SEARCH.readMost, 2 * limit);
  const { ranked, forms } = await rank({
    segments,
    wanted,
    filters,
    since: Math.floor(since / 1_000),
    now: Math.floor(now / 1_000),
    most,
    pause,
  });
  const rowIds = await index.idsOf(ranked);
  const documents = await ledger.found(rowIds.map(placeOf));
  const fitOf = createFinder(typed, forms, room);
  const scored: { readonly found: Found; readonly score: number }[] = [];
  for (const [i, each] of documents.entries()) {
    const said = each && searchableOf(each.doc);
    if (!said || admits?.(said) === false) continue;
    const fit = fitOf(said.text, SEARCH.readFirst);
    await pause();
    scored.push({
      found: { id: each.doc._id, said, title: each.title, passage: fit.passage },
      score: (ranked[i]?.score ?? 0) + IN_ORDER * fit.inOrder + COVERED * fit.covered + CLOSE * fit.close,
    });
  }
  const best = scored.sort((a, b) => b.score - a.score || b.found.said.time - a.found.said.time);
  // Where as many were read as are, what was not read may be admitted too.
  return { found: best.slice(0, limit).map(({ found }) => found), more: best.length > limit || ranked.length >= most };
}
