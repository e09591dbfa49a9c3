/**
 * A kind of documents that Roost does not have: what a new one takes is this file, and its line in
 * the list.
 */
import { defineKind } from '../../src/shared/protocol/documents/kind.ts';

export const weather = defineKind({
  type: 'weather',
  version: 2,
  name: 'The weather',
  schema: ({ z, base, common: { agentId } }) =>
    z.looseObject({
      ...base,
      type: z.literal('weather'),
      place: z.string(),
      celsius: z.number(),
      agentId: agentId.optional(),
    }),
  // The first version had degrees Fahrenheit.
  upcast: { 1: ({ fahrenheit, ...doc }) => ({ ...doc, celsius: ((Number(fahrenheit) - 32) * 5) / 9 }) },
  view: { store: 'records', about: ({ place }) => (place === '' ? null : place), holds: 'newest' },
  stream: 'people',
  whose: 'agent',
  forgotten: 'with-conversation',
  consent: 'The weather',
  title: ({ place, celsius }) => `${celsius} °C in ${place}`,
});
