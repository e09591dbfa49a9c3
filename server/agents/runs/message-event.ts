/**
 * Events of messages that were written neither by the person on the page nor by a mind in an
 * answer: the relay's own, those of other agents, and those that an agent leaves for the person.
 */
import type { Compaction, Usage } from '../../../src/shared/protocol/documents.ts';
import type { EventOf } from '../../../src/shared/protocol/events.ts';

interface MessageFields extends Pick<
  EventOf<'message'>,
  'time' | 'messageId' | 'sessionId' | 'runId' | 'agentId' | 'author'
> {
  readonly text: string;
  /** Left out: the message is for the agent. `assistant`: the agent says it. */
  readonly role?: 'user' | 'assistant';
  /** The message is a summary of what was said before. */
  readonly compaction?: Compaction;
  readonly usage?: Usage | null;
}

/** The event of a whole message that `author` adds to the conversation of `agentId`. */
export const messageEvent = ({
  time,
  messageId,
  sessionId,
  runId,
  agentId,
  author,
  text,
  role = 'user',
  compaction,
  usage = null,
}: MessageFields): EventOf<'message'> => ({
  kind: 'message',
  time,
  messageId,
  sessionId,
  ...(runId === undefined ? {} : { runId }),
  agentId,
  author,
  role,
  blocks: [{ kind: 'text', text }],
  status: 'complete',
  error: null,
  usage,
  clientId: null,
  replaces: null,
  waiting: false,
  ...(compaction === undefined ? {} : { compaction }),
});
