import type { Doc } from '../../shared/protocol/documents.ts';
import type { DocumentStore } from '../../shared/protocol/documents/kind.ts';

interface Place {
  readonly store: DocumentStore;
  readonly id: string;
}

/** What the search needs of the ledger. */
export interface SearchedLedger {
  /** Ids in order that begin with `prefix`, after this one. */
  ids(page: {
    readonly store: DocumentStore;
    readonly prefix: string;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly string[]>;
  /** Those of them that are there. */
  documentsAt(places: readonly Place[]): Promise<readonly Doc[]>;
  /** In the same places, what is to be seen; null: it is not. */
  found(places: readonly Place[]): Promise<readonly ({ readonly doc: Doc; readonly title: string | null } | null)[]>;
  /** Which views they are, and how many documents they hold, by kind. */
  counted(): Promise<{
    readonly views: string;
    readonly kinds: readonly { readonly type: string; readonly documents: number }[];
  }>;
}
