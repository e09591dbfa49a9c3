/** Agent snapshots that pages leave with the relay. */
import { z } from 'zod';
import { common } from '../documents.ts';
import { LIMITS } from '../limits.ts';
import { agentSnapshotSchema, snapshotStatusSchema } from '../snapshots.ts';
import { browsersOnly, endpoint, idText, named } from './endpoint.ts';

const params = { agentId: named(idText, 'the agent’s id') };
const unknownAgent = { status: 404, when: 'no such agent' } as const;

const agentSnapshotsSchema = z.object({
  snapshots: z.array(snapshotStatusSchema),
  withdrawn: z
    .array(common.agentId)
    .describe('agents whose snapshot the person has withdrawn; pages leave none until a schedule is switched on again'),
  dreaming: z
    .array(common.agentId)
    .optional()
    .describe('agents that dream, so pages leave their snapshots too; left out: none'),
  everybody: z
    .literal(true)
    .optional()
    .describe(
      'an application may start a session, so pages leave snapshots of the lead and of all agents, even those without a schedule',
    ),
});

export const snapshotEndpoints = {
  agentSnapshots: endpoint({
    method: 'GET',
    path: '/api/agent-snapshots',
    does: 'The agent snapshots that pages have left here, with their size and date.',
    answers: [{ status: 200, when: 'always', body: agentSnapshotsSchema }, browsersOnly],
  }),
  storeAgentSnapshot: endpoint({
    method: 'PUT',
    path: '/api/agent-snapshots/{agentId}',
    does: 'Leaves an agent snapshot with the relay: what the agent needs to work without a page. The relay stores it sealed.',
    params,
    body: z.strictObject({
      version: z.string().min(1).max(LIMITS.id),
      snapshot: agentSnapshotSchema,
      forgets: z
        .array(z.string().max(LIMITS.id))
        .max(LIMITS.knownForgets)
        .default([])
        .describe('final requests to forget that the page knows; the relay refuses a snapshot without one of its own'),
    }),
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 204, when: 'on disk' },
      unknownAgent,
      {
        status: 409,
        when: '`withdrawn`: the person has withdrawn the agent’s snapshot; `older-snapshot`: the stored snapshot is newer, or something was forgotten that this one may have',
      },
      browsersOnly,
    ],
  }),
  withdrawAgentSnapshot: endpoint({
    method: 'DELETE',
    path: '/api/agent-snapshots/{agentId}',
    does: 'Withdraws an agent snapshot, and switches off the agent’s schedules. Pages leave no snapshot again until a schedule of the agent is switched on.',
    params,
    answers: [
      { status: 204, when: 'deleted; a snapshot still on its way is refused' },
      { status: 404, when: 'there is no such agent, and no snapshot of one' },
      browsersOnly,
    ],
  }),
};
