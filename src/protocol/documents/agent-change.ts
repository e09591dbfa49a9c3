/** What changed about somebody since. */
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
      })
      .describe(
        'What changed about somebody since. The newest of each kind holds; retiring and returning are one kind.',
      ),

  view: {
    store: 'changes',
    // Retiring and returning are one kind of change.
    about: ({ agentId, change }) => `${change.kind === 'return' ? 'retire' : change.kind}:${agentId}`,
    holds: 'newest',
  },
  stream: 'people',
  whose: 'agent',
  forgotten: 'with-agent',
});
