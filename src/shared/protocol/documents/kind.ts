/**
 * What there is to know of one kind of document, in one place: how it is checked, what it says
 * something about and which of several holds, where it stands in the views, how an older version is
 * read, in which order it travels, whose it is, and what becomes of it when somebody is forgotten.
 * Everything else is derived from the list of kinds (./kinds.ts).
 */
import type { z } from 'zod';
import type { Forgotten } from '../../domain/forgetting.ts';
import type * as Fields from './fields.ts';

/** A document of any kind. */
export interface AnyDoc {
  readonly _id: string;
  readonly type: string;
  readonly schema: number;
  readonly at: string;
  readonly [field: string]: unknown;
}

/**
 * Kinds that pages ask for in ways of their own have stores of their own in the views; all others
 * are in `records`.
 */
export type DocumentStore =
  | 'identities'
  | 'changes'
  | 'settings'
  | 'sessions'
  | 'messages'
  | 'queued'
  | 'reads'
  | 'forgets'
  | 'records';

interface DocumentView<D> {
  readonly store: DocumentStore;
  /**
   * The thing that a document says something about; null: nothing that this app knows. Left out:
   * itself.
   */
  about?(doc: D): string | null;
  /** `newest`: of those about the same thing one holds. Left out: each does. */
  readonly holds?: 'newest';
  /** Which one; left out: the newest by (`at`, `_id`). */
  wins?(doc: D, held: D): boolean;
  /**
   * Does it stand in the log of what the person changed? `person`: as theirs; `else`: it only is
   * what stood there before one of theirs; null: neither. Left out: none of its kind does.
   */
  changedBy?(doc: D): 'person' | 'else' | null;
}

export interface DocumentKind<Type extends string, Schema extends z.ZodType> {
  readonly type: Type;
  /** Which this app writes. Older ones are read as it, newer ones are kept and passed on. */
  readonly version: number;
  /** In people's words. Kinds that share one are one to people. */
  readonly name: string;
  readonly schema: (fields: typeof Fields) => Schema;
  /**
   * By version: how a document of it is read as one of the next. What is stored stays as it was
   * written.
   */
  readonly upcast?: Readonly<Record<number, (doc: AnyDoc) => AnyDoc>>;
  readonly view: DocumentView<z.output<Schema>>;
  /**
   * What the page needs before all else travels with `people`; what no word waits for with
   * `attachments`.
   */
  readonly stream: 'people' | 'talk' | 'attachments';
  /**
   * `agent`: of the one that its `agentId` names, if it names one. `household`: never part of one
   * agent's folder. `everybody`: part of each folder.
   */
  readonly whose: 'agent' | 'household' | 'everybody';
  readonly forgotten: Forgotten;
  /**
   * Of a file, it comes in only where the person ticks what is named here; left out: with the rest,
   * unless other rules hold it.
   */
  readonly consent?: string;
  /**
   * The relay keeps it too, and is given it back where it was lost: `recordId` and `value` are the
   * record's.
   */
  readonly isRecord?: true;
  /** One document in a few words, for previews. */
  title?(doc: z.output<Schema>): string;
}

export const defineKind = <const Type extends string, Schema extends z.ZodType>(
  kind: DocumentKind<Type, Schema>,
): DocumentKind<Type, Schema> => kind;

interface Placed {
  readonly at: string;
  readonly _id: string;
}

/** By (stamp, id), oldest first. */
export const byAge = (a: Placed, b: Placed): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a._id < b._id ? -1 : a._id > b._id ? 1 : 0;

/** Is `a` newer than `b`, by (stamp, id)? */
export const isNewer = (a: Placed, b: Placed): boolean => byAge(a, b) > 0;
