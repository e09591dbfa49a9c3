import type { Doc } from '../../shared/protocol/documents.ts';
import type { DocumentStore } from '../../shared/protocol/documents/kind.ts';

interface Place {
  readonly store: DocumentStore;
  readonly id: string;
}

/** What the search needs of the ledger. */
export interface SearchedLedger {
  /** Ids that begin with `prefix`, in order, from the one after `after`. */
  ids(page: {
    readonly store: DocumentStore;
    readonly prefix: string;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly string[]>;
  /** Those of the documents that exist. */
  documentsAt(places: readonly Place[]): Promise<readonly Doc[]>;
  /** The visible documents, in the same places. Null: not visible. */
  found(places: readonly Place[]): Promise<readonly ({ readonly doc: Doc; readonly title: string | null } | null)[]>;
  /** The name of the views, and the number of documents by kind. */
  counted(): Promise<{
    readonly views: string;
    readonly kinds: readonly { readonly type: string; readonly documents: number }[];
  }>;
}
