/**
 * The definition of one kind of document, in one place.
 *
 * It says how a document is checked, what it is about, and which of several wins. It names the
 * store in the views, the upgrade of older versions, and the order of synchronisation. It also says
 * whose a document is, and when it is forgotten. Everything else is derived from the list of kinds
 * (./kinds.ts).
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
 * Stores of the views. Kinds that pages query in their own way have their own store. All others are
 * in `records`.
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
   * The thing that a document is about. Null: nothing that this app knows. Left out: the document
   * itself.
   */
  about?(doc: D): string | null;
  /** `newest`: one of the documents about the same thing wins. Left out: each one counts. */
  readonly holds?: 'newest';
  /** Which one wins. Left out: the newest by (`at`, `_id`). */
  wins?(doc: D, held: D): boolean;
  /**
   * Whether the document is in the log of the person's changes. `person`: as their change; `else`:
   * only as the value before one of theirs; null: neither. Left out: no document of this kind is.
   */
  changedBy?(doc: D): 'person' | 'else' | null;
}

export interface DocumentKind<Type extends string, Schema extends z.ZodType> {
  readonly type: Type;
  /**
   * The version that this app writes. Older ones are upgraded, newer ones are stored and passed on.
   */
  readonly version: number;
  /** Name for people. Kinds with the same name are one to people. */
  readonly name: string;
  readonly schema: (fields: typeof Fields) => Schema;
  /** By version: upgrades a document to the next version. The stored document is not changed. */
  readonly upcast?: Readonly<Record<number, (doc: AnyDoc) => AnyDoc>>;
  readonly view: DocumentView<z.output<Schema>>;
  /**
   * Synchronisation order. `people` carries what the page needs first, and `attachments` what no
   * message waits for.
   */
  readonly stream: 'people' | 'talk' | 'attachments';
  /**
   * `agent`: belongs to the agent of its `agentId`, if it has one. `household`: never part of an
   * agent's folder. `everybody`: part of every agent's folder.
   */
  readonly whose: 'agent' | 'household' | 'everybody';
  readonly forgotten: Forgotten;
  /**
   * From a file, it is imported only if the person ticks the entry of this name. Left out: imported
   * with the rest, unless other rules apply.
   */
  readonly consent?: string;
  /**
   * The relay stores it too, and receives it back if it was lost. `recordId` and `value` are the
   * record's.
   */
  readonly isRecord?: true;
  /** A document in a few words, for previews. */
  title?(doc: z.output<Schema>): string;
}

export const defineKind = <const Type extends string, Schema extends z.ZodType>(
  kind: DocumentKind<Type, Schema>,
): DocumentKind<Type, Schema> => kind;

interface Placed {
  readonly at: string;
  readonly _id: string;
}

/** Compares by stamp and id, oldest first. */
export const byAge = (a: Placed, b: Placed): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a._id < b._id ? -1 : a._id > b._id ? 1 : 0;

/** Whether `a` is newer than `b`, by (stamp, id). */
export const isNewer = (a: Placed, b: Placed): boolean => byAge(a, b) > 0;
