/** Something said in a thread. */
import type { ThreadId } from '../../domain/ids.ts';
import { defineRecord } from './record.ts';
import { idOf } from '../ids.ts';

export const threadMessage = defineRecord({
  type: 'thread-message',
  name: 'Threads',
  describe: 'Something said in a thread, as the relay’s record has it. Said once, and never changed.',
  value: ({ z, id }) => z.looseObject({ threadId: idOf<ThreadId>(id), sequence: z.number(), time: z.number() }),
  stream: 'talk',
  within: ({ threadId }) => threadId,
  title: () => 'A message in a thread',
  consent: 'Threads',
});
