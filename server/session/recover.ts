/** After a crash: what was being said ends as `interrupted` with the words that are in the log, the session as `crash`. */
import type { Block } from '../../src/protocol/documents.ts';
import type { RoostEvent } from '../../src/protocol/events.ts';
import type { EventLog, Inbox } from '../contracts.ts';

/** Events read at once while the log is searched for open answers. */
const PAGE = 2_000;

/** The blocks of each of these answers, from its `text` and `tool` events, and when it began. */
async function readBlocks(
  log: EventLog,
  messageIds: ReadonlySet<string>,
): Promise<{ readonly answers: Map<string, Block[]>; readonly began: Map<string, number> }> {
  const began = new Map<string, number>();
  const answers = new Map<string, Block[]>([...messageIds].map((messageId) => [messageId, []]));
  if (messageIds.size === 0) return { answers, began };
  for (let after = 0; ;) {
    const page = await log.read(after, PAGE);
    for (const { event } of page) {
      if (event.kind === 'answer-started' && messageIds.has(event.messageId)) began.set(event.messageId, event.time);
      if (event.kind !== 'text' && event.kind !== 'tool') continue;
      const blocks = answers.get(event.messageId);
      if (!blocks) continue;
      if (event.kind === 'text') {
        const last = blocks.at(-1);
        if (last?.kind === 'text') blocks[blocks.length - 1] = { kind: 'text', text: last.text + event.text };
        else blocks.push({ kind: 'text', text: event.text });
        continue;
      }
      const { block } = event;
      const open = blocks.findIndex(
        (held) => held.kind === 'tool' && block.kind === 'tool' && held.toolUseId === block.toolUseId,
      );
      if (open < 0) blocks.push(block);
      else blocks[open] = block;
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return { answers, began };
    after = last.id;
  }
}

/** Gives back what was taken out of inboxes and did not reach the log before the crash: nobody has read it. */
async function giveBackUnread(log: EventLog, inbox: Inbox, sessionId: string): Promise<void> {
  const taken = new Map((await inbox.takenIn(sessionId)).map((mail) => [mail.messageId, mail]));
  for (let after = 0; taken.size > 0;) {
    const page = await log.read(after, PAGE);
    for (const { event } of page) {
      if (event.kind === 'message-read' || (event.kind === 'message' && !event.waiting)) taken.delete(event.messageId);
      if (event.kind !== 'tool' || event.block.kind !== 'tool') continue;
      // What an answer fetched by itself stands in what its call gave back.
      const { result } = event.block;
      for (const { messageId, read, text } of taken.values())
        if (read?.run === event.messageId && result?.includes(text)) taken.delete(messageId);
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.id;
  }
  await inbox.giveBack([...taken.keys()]);
}

/** Closes the session that an earlier process left open, if there is one. */
export async function recoverSession(log: EventLog, inbox: Inbox, now: () => number): Promise<void> {
  const { session } = log.snapshot();
  if (!session) return;
  const { sessionId, answering } = session;
  await giveBackUnread(log, inbox, sessionId);
  const { answers, began } = await readBlocks(log, new Set(answering.map((answer) => answer.messageId)));
  const ends = answering.map(({ messageId, agentId }): RoostEvent => ({
    kind: 'message',
    // It stands where it began.
    time: began.get(messageId) ?? now(),
    messageId,
    sessionId,
    agentId,
    author: agentId,
    role: 'assistant',
    blocks: answers.get(messageId) ?? [],
    status: 'interrupted',
    error: null,
    usage: null,
    clientId: null,
    replaces: null,
    waiting: false,
  }));
  await log.append([...ends, { kind: 'session-ended', time: now(), sessionId, reason: 'crash' }]);
}
