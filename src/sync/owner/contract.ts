/** What synchronisation needs of the ledger's owner, and what it does for it. */
import type { Doc, ForgetDoc } from '../../protocol/documents.ts';
import type { SyncAnswers } from '../../protocol/sync/methods.ts';
import type { DirectOrder, SyncStatus } from '../../protocol/sync/page.ts';
import type { Files } from '../mirror/index.ts';
import type { SyncDatabase } from './database.ts';
import type { SharedDeps } from './shared.ts';

export interface SyncDeps extends Omit<
  SharedDeps,
  'onChange' | 'onRemoved' | 'onMark' | 'onReturned' | 'onFound' | 'order' | 'log'
> {
  readonly db: SyncDatabase;
  /** Beside IndexedDB; null: this browser has none that this worker can write. */
  readonly files: Files | null;
  /** What this device is called until its person says otherwise. */
  readonly deviceName: string;
  readonly tell: (
    news:
      | { readonly news: 'sync'; readonly status: SyncStatus }
      | { readonly news: 'returned' }
      | { readonly news: 'mark'; readonly text: string | null }
      | { readonly news: 'direct'; readonly order: DirectOrder },
  ) => void;
  /** Something failed, and is tried again. */
  readonly onTrouble: (error: unknown) => void;
  /** A failure of ours. */
  readonly onCrash: (error: unknown) => void;
}

export interface Sync {
  readonly answers: SyncAnswers;
  /** Is what was lost being brought back, as far as it was found? */
  isReturning(): boolean;
  wake(): void;
  /** Resolves when nothing waits to be written into files. */
  flush(): Promise<void>;
  hearDocuments(docs: readonly Doc[]): void;
  forget(forgets: readonly ForgetDoc[]): void;
  reconnect(): void;
  close(): Promise<void>;
}
