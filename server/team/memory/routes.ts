/** HTTP routes of memories, for the person. */
import { memoryEndpoints } from '../../../src/shared/protocol/endpoints/memories.ts';
import type { Memory, MemorySource } from '../../../src/shared/protocol/memories.ts';
import type { Directory } from '../directory/index.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import { agentIdIn } from '../directory/index.ts';
import type { Memories, MemoryOutcome } from './index.ts';

const BY_HUMAN: MemorySource = { by: 'human', sessionId: null, runId: null, read: [] };

/** Why a memory was not changed, as an answer. */
export function memoryProblem(outcome: Exclude<MemoryOutcome<never>, { ok: true }>): ReturnType<typeof problem> {
  if (outcome.reason === 'changed-elsewhere') return changedElsewhere(outcome.current);
  const { reason, detail } = outcome;
  switch (reason) {
    case 'no-memory':
      return problem(404, reason, detail);
    case 'path-taken':
      return problem(409, reason, detail);
    case 'memory-full':
      return problem(413, reason, detail);
    case 'misfit':
      return problem(400, reason, detail);
    default:
      return reason satisfies never;
  }
}

function orThrow(outcome: MemoryOutcome<Memory>): Memory {
  if (outcome.ok) return outcome.value;
  throw memoryProblem(outcome);
}

interface MemoryRoutesDeps {
  readonly memories: Memories;
  readonly directory: Pick<Directory, 'all'>;
}

export const createMemoryRoutes = ({ memories, directory }: MemoryRoutesDeps): readonly Handled[] =>
  answer(memoryEndpoints, {
    async memories({ agentId }) {
      const files = await memories.list(agentId === null ? null : await agentIdIn(directory, agentId));
      return {
        memories: [...files],
        bytes: files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
      };
    },
    async createMemory({ body: { agentId, importedFrom, ...file } }) {
      const owner = agentId === null ? null : await agentIdIn(directory, agentId);
      const read = importedFrom === undefined ? [] : [`import from ${importedFrom}`];
      return orThrow(await memories.add(owner, file, { ...BY_HUMAN, read }));
    },
    async changeMemory({ memoryId, body: { path, text, pinned, version } }) {
      const edit = text === undefined ? {} : { edit: () => ({ ok: true, text }) as const };
      return orThrow(await memories.change(memoryId, { path, pinned, ...edit }, BY_HUMAN, version));
    },
    async removeMemory({ memoryId }) {
      orThrow(await memories.change(memoryId, { removed: true }, BY_HUMAN));
      return null;
    },
  });
