/** What agents keep. */
import { changeMemorySchema, createMemorySchema, memoriesSchema, memorySchema } from '../memories.ts';
import { changedElsewhere } from '../version.ts';
import { endpoint, idText, named, optional } from './endpoint.ts';

const path = '/api/memories/{memoryId}';
const memory = {
  memoryId: named(idText, 'the file’s id', { type: 'no-memory', detail: 'There is no such file in a memory.' }),
};
const taken = { status: 409, when: '`path-taken`: the memory has a file of this path' } as const;
const full = { status: 413, when: '`memory-full`: the memory has as many files, or bytes, as it may' } as const;

export const memoryEndpoints = {
  memories: endpoint({
    method: 'GET',
    path: '/api/memories',
    does: 'Lists the files of one memory with their texts.',
    query: { agentId: optional(idText.describe('whose memory: the agent’s id, name or seat; left out: the team’s')) },
    answers: [
      { status: 200, when: 'found', body: memoriesSchema },
      { status: 404, when: '`unknown-agent`: there is no such agent' },
    ],
  }),
  createMemory: endpoint({
    method: 'POST',
    path: '/api/memories',
    does: 'Adds a file to a memory, as the person’s.',
    body: createMemorySchema,
    answers: [
      { status: 201, when: 'added', body: memorySchema },
      { status: 404, when: '`unknown-agent`: there is no such agent' },
      taken,
      full,
    ],
  }),
  changeMemory: endpoint({
    method: 'PUT',
    path,
    does: 'Changes the text, the path or the pin of a file. Fields that are left out stay as they are.',
    params: memory,
    body: changeMemorySchema,
    answers: [
      { status: 200, when: 'changed', body: memorySchema },
      { status: 404, when: '`no-memory`: there is no such file' },
      { status: 409, when: `${changedElsewhere.when}; or \`path-taken\`: the memory has a file of this path` },
      full,
    ],
  }),
  removeMemory: endpoint({
    method: 'DELETE',
    path,
    does: 'Removes a file from a memory. Earlier versions stay in the household’s ledger.',
    params: memory,
    answers: [
      { status: 204, when: 'removed' },
      { status: 404, when: '`no-memory`: there is no such file' },
    ],
  }),
};
