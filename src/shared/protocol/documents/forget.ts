/** The person asked to forget something. */
import { defineKind } from './kind.ts';

export const forget = defineKind({
  type: 'forget',
  version: 1,
  name: 'What was forgotten',
  schema: ({ z, base, common: { agentId, time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('forget'),
        target: z
          .discriminatedUnion('kind', [
            z.looseObject({ kind: z.literal('agent'), agentId }),
            z.looseObject({ kind: z.literal('conversation'), agentId }),
          ])
          .describe(
            'agent: everything about it, whenever written; conversation: what was said with it before this stamp',
          ),
        askedAt: time,
        finalAt: time.describe(
          'until then it is hidden and can be undone; from then on its contents are removed wherever this document comes',
        ),
      })
      .describe('The person asked to forget something. Only ids remain of it.'),

  view: { store: 'forgets' },
  stream: 'people',
  whose: 'household',
  forgotten: 'never',
});
