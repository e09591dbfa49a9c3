/**
 * What synchronisation needs from outside, and nothing more. `src/worker/worker.ts` gives the real
 * ones.
 */
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { TeamMark } from './records.ts';

/** A document's place in the ledger, and when it was written. */
export interface DocumentKey {
  readonly store: string;
  readonly id: string;
  readonly at: string;
}

interface Talk {
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  readonly messages: number;
}

/** The ledger, as far as synchronisation needs it. */
export interface LedgerPort {
  /**
   * Documents of another device. Resolves when they are durable. Rejects with a ZodError or
   * TypeError for what is no document, and then stores none.
   */
  append(docs: readonly unknown[]): Promise<unknown>;
  /** Rows that are to go out, oldest first. */
  outbox(
    limit: number,
  ): Promise<readonly { readonly number: number; readonly docs: readonly Doc[]; readonly fromRelay: boolean }[]>;
  clearOutbox(numbers: readonly number[]): Promise<void>;
  betweenAppends<Result>(run: () => Promise<Result>): Promise<Result>;
  keys(): Promise<readonly DocumentKey[]>;
  documentsAt(keys: readonly DocumentKey[]): Promise<readonly Doc[]>;
  lastTalks(): Promise<readonly Talk[]>;
  /** Who lives here now. */
  team(): Promise<TeamMark>;
  countTalks(
    talks: readonly { readonly agentId: AgentId; readonly sessionId: SessionId }[],
  ): Promise<readonly number[]>;
}

export type {
  Called,
  OpenSocket,
  Socket,
  SocketItem,
  SyncRelay,
} from '../../../shared/protocol/sync/relay-connection.ts';
