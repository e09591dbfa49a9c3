/** What changed about somebody since. */
import { LEAD_ID } from '../../domain/seat.ts';
import { parseStamp, RELAY_NODE } from '../../domain/stamp.ts';
import { defineKind } from './kind.ts';

export const agentChange = defineKind({
  type: 'agent-change',
  version: 1,
  name: 'Agents and their souls',
  schema: ({ z, base, common: { agentId, position } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('agent-change'),
        agentId,
        change: z.discriminatedUnion('kind', [
          z.looseObject({ kind: z.literal('rename'), name: z.string() }),
          z.looseObject({ kind: z.literal('seat'), position: position.nullable() }),
          z.looseObject({ kind: z.literal('retire') }),
          z.looseObject({ kind: z.literal('return') }),
          z.looseObject({ kind: z.literal('soul'), individuationArtifact: z.string() }),
        ]),
        device: z.string().optional().describe('which device of the household wrote it; left out: it was the only one'),
      })
      .describe(
        'What changed about somebody since. The newest of each kind holds; retiring and returning are one kind.',
      ),

  view: {
    store: 'changes',
    // Retiring and returning are one kind of change.
    about: ({ agentId, change }) => `${change.kind === 'return' ? 'retire' : change.kind}:${agentId}`,
    holds: 'newest',
    // Agents name themselves, too, and write their own souls; the lead's name is a setting.
    changedBy: ({ agentId, change, at }) =>
      change.kind === 'soul' || agentId === LEAD_ID || parseStamp(at)?.node === RELAY_NODE ? 'else' : 'person',
  },
  stream: 'people',
  whose: 'agent',
  forgotten: 'with-agent',
});
