/** What an agent, or the household, may do and cost. */
import { defineRecord } from './record.ts';

export const limits = defineRecord({
  type: 'limits',
  name: 'Limits, prices and budgets',
  describe: 'What an agent, or the household, may do and cost, as the relay’s record has it.',
  value: ({ z, agentIdSchema }) =>
    z.looseObject({ agentId: agentIdSchema.nullable(), config: z.record(z.string(), z.unknown()) }),
  stream: 'people',
  isPersons: () => true,
  title: ({ agentId }) => (agentId === null ? 'The household’s limits and budget' : 'Limits and budget of one agent'),
  consent: 'Limits, prices and budgets',
});
