/** What is due of an agent without anybody there: a routine, a reminder, a script. */
import { defineRecord } from './record.ts';

export const schedule = defineRecord({
  type: 'schedule',
  name: 'Routines, reminders and scripts',
  describe: 'A routine, a reminder or a script of an agent, as the relay’s record has it.',
  value: ({ z, agentIdSchema }) =>
    z.looseObject({
      removed: z.boolean(),
      schedule: z.looseObject({ kind: z.string(), name: z.string(), agentId: agentIdSchema }),
    }),
  stream: 'people',
  // Reminders are the agents' own.
  isPersons: ({ schedule: { kind } }) => kind !== 'reminder',
  title: ({ schedule: { kind, name } }) => `The ${kind} “${name}”`,
  consent: 'Routines, reminders and scripts',
});
