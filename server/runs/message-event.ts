/** Messages that no person wrote on the page, and no mind in an answer: the relay's own, and messages of other agents. */
import type { EventOf } from '../../src/protocol/events.ts';

interface Told extends Pick<EventOf<'message'>, 'time' | 'messageId' | 'sessionId' | 'runId' | 'agentId' | 'author'> {
  readonly text: string;
}

/** The event of a message that `author` puts into the conversation of `agentId`, whole. */
export const toldEvent = ({ time, messageId, sessionId, runId, agentId, author, text }: Told): EventOf<'message'> => ({
  kind: 'message',
  time,
  messageId,
  sessionId,
  ...(runId === undefined ? {} : { runId }),
  agentId,
  author,
  role: 'user',
  blocks: [{ kind: 'text', text }],
  status: 'complete',
  error: null,
  usage: null,
  clientId: null,
  replaces: null,
  waiting: false,
});
