/** What was to be forgotten is kept after all. */
import { defineKind } from './kind.ts';

export const forgetUndo = defineKind({
  type: 'forget-undo',
  version: 1,
  name: 'What was forgotten',
  schema: ({ z, base, id, common: { time } }) =>
    z
      .looseObject({
        ...base,
        type: z.literal('forget-undo'),
        forgetId: id.describe('`_id` of the `forget`; counts if written before its `finalAt`'),
        time: time.optional().describe('when it was written; left out: as `at` has it'),
      })
      .describe('What was to be forgotten is kept after all.'),

  view: { store: 'forgets' },
  stream: 'people',
  whose: 'household',
  forgotten: 'never',
});
