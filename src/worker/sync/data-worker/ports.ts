/**
 * Everything that synchronisation needs from outside. `src/worker/worker.ts` provides the real
 * ones.
 */
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import type { Doc, ForgetDoc } from '../../../shared/protocol/documents.ts';
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

/** The part of the ledger that synchronisation needs. */
export interface LedgerPort {
  /**
   * Appends documents of another device. Resolves when they are durable. Rejects with a ZodError or
   * TypeError for an invalid document, and then stores none.
   */
  append(docs: readonly unknown[]): Promise<unknown>;
  /** Rows that wait to be sent, oldest first. */
  outbox(
    limit: number,
  ): Promise<readonly { readonly number: number; readonly docs: readonly Doc[]; readonly fromRelay: boolean }[]>;
  clearOutbox(numbers: readonly number[]): Promise<void>;
  /** Requests to forget that are final. */
  forgets(): readonly ForgetDoc[];
  betweenAppends<Result>(run: () => Promise<Result>): Promise<Result>;
  keys(): Promise<readonly DocumentKey[]>;
  documentsAt(keys: readonly DocumentKey[]): Promise<readonly Doc[]>;
  lastTalks(): Promise<readonly Talk[]>;
  /** The household's members now. */
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
