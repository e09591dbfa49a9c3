/** The table of prices. */
import { defineRecord } from './record.ts';

export const prices = defineRecord({
  type: 'prices',
  name: 'Limits, prices and budgets',
  describe: 'The table of prices that the person has set, as the relay’s record has it; an empty one: Roost’s own.',
  value: ({ z }) => z.looseObject({ prices: z.array(z.looseObject({ model: z.string() })) }),
  stream: 'people',
  isPersons: () => true,
  title: ({ prices: rows }) => (rows.length === 0 ? 'Roost’s own prices' : 'The table of prices'),
  consent: 'Limits, prices and budgets',
});
