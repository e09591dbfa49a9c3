/** A tab's side of its connection to the ledger's owner. */
import type { After } from '../../domain/platform/timers.ts';
import type { OWNER_METHODS, OwnerCallName } from '../../protocol/owner-rpc.ts';
import { createRpcClient, type Connection, type ConnectionEnds, type RpcClient } from '../../protocol/rpc/client.ts';
import type { OwnerNews } from '../../protocol/worker.ts';
import { OWNER_CONNECTION } from '../settings.ts';
import { sentence } from '../../domain/sentence.ts';

export type OwnerConnection = Connection<OwnerCallName>;
export type OwnerConnectionEnds = ConnectionEnds<OwnerNews>;

/** A refused write rejects with the name `StorageProblemError`; a document that does not fit rejects too. */
export type OwnerClient = RpcClient<typeof OWNER_METHODS, OwnerNews>;

export interface ClientDeps {
  readonly open: (ends: OwnerConnectionEnds) => OwnerConnection;
  readonly newId: () => string;
  readonly after: After;
}

const NO_OWNER = sentence`The page’s background worker does not answer. Reload the page; nothing that was stored is lost.`;

export const createOwnerClient = (deps: ClientDeps): OwnerClient =>
  createRpcClient<typeof OWNER_METHODS, OwnerNews>({
    ...deps,
    times: OWNER_CONNECTION,
    isWelcome: ({ news }) => news === 'welcome',
    unanswered: (detail) => ({
      news: 'problem',
      problem: { kind: 'no-owner', detail: detail === null ? NO_OWNER : `${NO_OWNER} (${detail})` },
    }),
  });
