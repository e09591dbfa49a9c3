import { expect, it } from 'vitest';
import { rosterOfDocs } from '../../../../src/page/state/household.ts';
import { teamOf } from '../../../../src/page/state/last-team.ts';
import { teamSchema } from '../../../../src/shared/protocol/team.ts';
import type { AgentChangeDoc, AgentIdentityDoc } from '../../../../src/shared/protocol/documents.ts';

const identity = (agentId: string, name: string, position: number, bornAt: number): AgentIdentityDoc => ({
  _id: `agent-identity:${agentId}`,
  type: 'agent-identity',
  schema: 1,
  at: '',
  agentId,
  name,
  color: '#c9b1e8',
  colorName: 'Violet Heaven',
  position,
  individuationArtifact: 'A soul.',
  bornAt,
  bornSessionId: null,
});
const retired: AgentChangeDoc = {
  _id: 'agent-change:d',
  type: 'agent-change',
  schema: 1,
  at: '1',
  agentId: 'd',
  change: { kind: 'retire' },
};

it('tells everybody with name and seat, those without a seat of their own without one, and nobody’s soul', () => {
  const team = teamOf(
    rosterOfDocs(
      [
        identity('lead', 'Julian', 4, 1),
        identity('a', 'Lyra', 0, 2),
        identity('b', 'Sage', 0, 3),
        identity('d', 'Iris', 5, 4),
      ],
      [retired],
    ),
    'Ada',
  );
  expect(teamSchema.parse(team).agents).toEqual([
    { agentId: 'lead', name: 'Julian', position: 4, retired: false },
    { agentId: 'a', name: 'Lyra', position: 0, retired: false },
    { agentId: 'b', name: 'Sage', position: null, retired: false },
    { agentId: 'd', name: 'Iris', position: null, retired: true },
  ]);
});
