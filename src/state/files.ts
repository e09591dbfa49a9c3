/** What lies in agents' folders on the relay's machine: looked at, given, taken and taken away by the person. */
import type { AgentId } from '../domain/ids.ts';
import { t } from '../language/t.ts';
import { UPLOAD_BYTES, type FolderAnswer } from '../protocol/endpoints/workspaces.ts';
import type { RelayResult } from '../relay/index.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';

/** `path`: within the agent's folder, `/` between names; empty: the folder itself. */
export interface Files {
  folder(agentId: AgentId, path: string): Query<FolderAnswer>;
  read(agentId: AgentId, path: string): Promise<RelayResult<Blob>>;
  zip(agentId: AgentId, path: string): Promise<RelayResult<Blob>>;
  /** Puts a file there; null: it is there, else why not. */
  put(agentId: AgentId, path: string, file: Blob): Promise<string | null>;
  /** Null: it is gone; else why not. */
  remove(agentId: AgentId, path: string): Promise<string | null>;
}

const tooLarge = t`It is larger than ${UPLOAD_BYTES / 1_000_000} MB, which is the most that one file may be here.`;

function createFiles({ reach, changes, device }: RoostState): Files {
  const folders = createQueryFamily((key: string) => {
    const [agentId = '', path = ''] = keyParts(key);
    return createQuery<FolderAnswer>({
      changes,
      device,
      what: ['files'],
      agentId,
      ask: () => reach((client) => client.files({ agentId, path })),
    });
  });
  return {
    folder: (agentId, path) => folders(JSON.stringify([agentId, path])),
    read: (agentId, path) => reach((client) => client.agentFiles.read(agentId, path)),
    zip: (agentId, path) => reach((client) => client.agentFiles.zip(agentId, path)),
    async put(agentId, path, file) {
      if (file.size > UPLOAD_BYTES) return tooLarge;
      const result = await reach((client) => client.agentFiles.put(agentId, path, file));
      return result.ok ? null : problemText(result.problem);
    },
    async remove(agentId, path) {
      const result = await reach((client) => client.removeFile({ agentId, path }));
      return result.ok ? null : problemText(result.problem);
    },
  };
}

/** Back from what a family of queries is asked by. */
const keyParts = (key: string): readonly string[] => {
  const parts: unknown = JSON.parse(key);
  return Array.isArray(parts) ? parts.map(String) : [];
};

/** One for each page. */
export const filesOf = onePerPage(createFiles);
