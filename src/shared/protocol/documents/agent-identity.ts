/** Somebody was born. */
import { defineKind } from './kind.ts';

export const agentIdentity = defineKind({
  type: 'agent-identity',
  version: 1,
  name: 'Agents and their souls',
  schema: ({ z, base, id, common: { agentId, time, position } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('agent-identity'),
        agentId,
        name: z.string().describe('the name it chose'),
        color: z.string().describe('its seat’s colour, `#rrggbb`'),
        colorName: z.string(),
        position,
        individuationArtifact: z
          .string()
          .describe('the soul: the full text of the first words, in which the name was chosen'),
        bornAt: time,
        bornSessionId: id.nullable().describe('null: born outside of a session, as the lead is'),
      })
      .describe('Somebody was born. Written once, never changed.'),

  view: { store: 'identities' },
  stream: 'people',
  whose: 'agent',
  forgotten: 'with-agent',
});
