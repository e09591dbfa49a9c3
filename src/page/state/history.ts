/** The history of agents' files: what each run changed, and restoring it. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Change, Changes, Compared, History, Point, Restored } from '../../shared/protocol/endpoints/history.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQueryFamily, type Query, relayQuery } from './query.ts';

/** What changes are counted from: as in the endpoint. */
export type ChangesFrom = 'previous' | 'before' | 'after';
type To = 'before' | 'after';
type OneFile = Pick<Change, 'folder' | 'file'>;

export interface Histories {
  /** The newest points. */
  of(agentId: AgentId): Query<History>;
  older(agentId: AgentId, before: string): Promise<RelayResult<History>>;
  changes(agentId: AgentId, pointId: string, from: ChangesFrom): Query<Changes>;
  compared(agentId: AgentId, pointId: string, from: ChangesFrom, file: OneFile): Query<Compared>;
  /** `files` null: all. */
  restore(
    agentId: AgentId,
    point: Pick<Point, 'pointId'>,
    to: To,
    files: readonly OneFile[] | null,
  ): Promise<RelayResult<Restored>>;
  /** Deletes the history; returns null on success, otherwise the reason. */
  forget(agentId: AgentId): Promise<string | null>;
}

const partsOf = (key: string): readonly string[] => {
  const parts: unknown = JSON.parse(key);
  return Array.isArray(parts) ? parts.map(String) : [];
};

const fromOf = (text: string): ChangesFrom => (text === 'before' || text === 'after' ? text : 'previous');

function createHistories({ callRelay, changes, device }: RoostState): Histories {
  const lists = createQueryFamily((agentId: string) =>
    relayQuery<History>({ callRelay, changes, device }, ['files'], (client) => client.history({ agentId }), {
      agentId,
    }),
  );
  const ofPoints = createQueryFamily((key: string) => {
    const [agentId = '', pointId = '', from = ''] = partsOf(key);
    const since = fromOf(from);
    return relayQuery<Changes>(
      { callRelay, changes, device },
      ['files'],
      (client) => client.historyChanges({ agentId, pointId, from: since }),
      { agentId },
    );
  });
  const ofFiles = createQueryFamily((key: string) => {
    const [agentId = '', pointId = '', from = '', folder = '', file = ''] = partsOf(key);
    return relayQuery<Compared>(
      { callRelay, changes, device },
      ['files'],
      (client) => client.historyFile({ agentId, pointId, from: fromOf(from), folder, file }),
      { agentId },
    );
  });
  return {
    of: (agentId) => lists(agentId),
    older: (agentId, before) => callRelay((client) => client.history({ agentId, before })),
    changes: (agentId, pointId, from) => ofPoints(JSON.stringify([agentId, pointId, from])),
    compared: (agentId, pointId, from, { folder, file }) =>
      ofFiles(JSON.stringify([agentId, pointId, from, folder, file])),
    restore: (agentId, { pointId }, to, files) =>
      callRelay((client) => client.historyRestore({ agentId, pointId, body: { to, files: files && [...files] } })),
    async forget(agentId) {
      const result = await callRelay((client) => client.historyForget({ agentId }));
      return result.ok ? null : problemText(result.problem);
    },
  };
}

/** One instance per page. */
export const historiesOf = onePerPage(createHistories);
