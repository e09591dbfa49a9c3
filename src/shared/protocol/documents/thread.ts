/** A thread: what it is called, who is in it, how it ended. */
import { defineRecord } from './record.ts';

export const thread = defineRecord({
  type: 'thread',
  name: 'Threads',
  describe: 'A thread, without what was said in it, as the relay’s record has it.',
  value: ({ z }) => z.looseObject({ title: z.string() }),
  stream: 'people',
  title: ({ title }) => `The thread “${title}”`,
  consent: 'Threads',
});
