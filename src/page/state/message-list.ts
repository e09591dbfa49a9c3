/**
 * The messages of one conversation as far as they were read, in order and without what was
 * replaced. Pages come in at the front and new messages at the end, thousands of them: both cost
 * what they bring, and only what comes out of order sorts everything again.
 */
import type { MessageId } from '../../shared/domain/ids.ts';
import type { MessageDoc } from '../../shared/protocol/documents.ts';

const inOrder = (a: MessageDoc, b: MessageDoc): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a._id < b._id ? -1 : a._id > b._id ? 1 : 0;

/** `shown`, and after it `next`, in order; each hides what it replaces. */
function withReplaced(shown: readonly MessageDoc[], next: readonly MessageDoc[]): MessageDoc[] {
  const all = [...shown];
  for (const message of next) {
    if (message.replaces) {
      const cut = all.findLastIndex((held) => held.messageId === message.replaces);
      if (cut >= 0) all.splice(cut);
    }
    all.push(message);
  }
  return all;
}

/** Sorted, each once, without what an edit or a retry has replaced. */
export const visibleMessages = (messages: Iterable<MessageDoc>): MessageDoc[] =>
  withReplaced([], [...messages].sort(inOrder));

export interface MessageList {
  has(messageId: MessageId): boolean;
  /** Takes what it has not; answers whether there was anything. */
  add(messages: readonly MessageDoc[]): boolean;
  /** It is shown no more, and not taken again. Answers whether it was there. */
  withdraw(at: string): boolean;
  /** Oldest first. The same array while nothing is added. */
  visible(): readonly MessageDoc[];
  /** Everything not older than `oldest`, also what is hidden; null: everything. */
  since(oldest: MessageDoc | null): MessageDoc[];
}

export function createMessageList(initial: readonly MessageDoc[] = []): MessageList {
  const byId = new Map<string, MessageDoc>();
  /** Ids that some message here replaces. */
  const replaced = new Set<string>();
  /** Stamps of messages that were taken back. */
  const withdrawn = new Set<string>();
  let first: MessageDoc | null = null;
  let last: MessageDoc | null = null;
  let shown: readonly MessageDoc[] = [];

  function place(fresh: readonly MessageDoc[]): readonly MessageDoc[] {
    const [oldest] = fresh;
    const newest = fresh.at(-1);
    if (!oldest || !newest) return shown;
    // What comes after everything goes on where the reading of the list ended.
    if (last === null || inOrder(last, oldest) < 0) return withReplaced(shown, fresh);
    // What lies before everything is a list of its own, unless something here reaches back into it.
    if (first !== null && inOrder(newest, first) < 0 && !fresh.some((message) => replaced.has(message.messageId)))
      return [...withReplaced([], fresh), ...shown];
    return visibleMessages(byId.values());
  }

  const list: MessageList = {
    has: (messageId) => byId.has(messageId),
    add(messages) {
      const fresh = messages.filter(({ messageId, at }) => !byId.has(messageId) && !withdrawn.has(at)).sort(inOrder);
      const [oldest] = fresh;
      const newest = fresh.at(-1);
      if (!oldest || !newest) return false;
      for (const message of fresh) {
        byId.set(message.messageId, message);
        if (message.replaces) replaced.add(message.replaces);
      }
      shown = place(fresh);
      if (first === null || inOrder(oldest, first) < 0) first = oldest;
      if (last === null || inOrder(last, newest) < 0) last = newest;
      return true;
    },
    withdraw(at) {
      withdrawn.add(at);
      const found = [...byId.values()].find((message) => message.at === at);
      if (!found) return false;
      byId.delete(found.messageId);
      shown = shown.filter((message) => message !== found);
      return true;
    },
    visible: () => shown,
    since: (from) => [...byId.values()].filter((message) => from === null || inOrder(message, from) >= 0),
  };
  list.add(initial);
  return list;
}
