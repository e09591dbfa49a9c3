/** Items that wait for a speaker, and which messages of the person can still be withdrawn. */
import type { MessageId } from '../../../src/shared/domain/ids.ts';
import { countTogether, type Item } from './item.ts';

export interface ItemQueue {
  add(items: readonly Item[]): void;
  /** Messages of the person that were read from the inbox. They do not wait here. */
  noteRead(items: readonly Item[]): void;
  /** Removes and returns the items that are delivered together next. */
  take(): Item[];
  isEmpty(): boolean;
  has(messageId: MessageId): boolean;
  /** A message of the person waits. */
  hasOfPerson(): boolean;
  /** The person wrote this message, and neither withdrew it nor called the team since. */
  isOfPerson(messageId: MessageId): boolean;
  /** Withdraws one waiting message of the person, and no others. False: it does not wait. */
  withdraw(messageId: MessageId): boolean;
  /** Withdraws a message and all that the person wrote after it. False: it did not wait. */
  withdrawFrom(messageId: MessageId): boolean;
  /** The person's messages so far cannot be withdrawn any more. */
  settle(): void;
  clear(): void;
}

export function createItemQueue(): ItemQueue {
  let queue: Item[] = [];
  const ofPerson = new Set<MessageId>();
  function noteRead(items: readonly Item[]): void {
    for (const { fromPerson, messageId } of items) if (fromPerson && messageId !== null) ofPerson.add(messageId);
  }
  return {
    add(items) {
      queue.push(...items);
      noteRead(items);
    },
    noteRead,
    take: () => queue.splice(0, countTogether(queue)),
    isEmpty: () => queue.length === 0,
    has: (messageId) => queue.some((item) => item.messageId === messageId),
    hasOfPerson: () => queue.some(({ fromPerson }) => fromPerson),
    isOfPerson: (messageId) => ofPerson.has(messageId),
    withdraw(messageId) {
      const at = queue.findIndex((item) => item.fromPerson === true && item.messageId === messageId);
      if (at >= 0) ofPerson.delete(messageId);
      return at >= 0 && queue.splice(at, 1).length > 0;
    },
    withdrawFrom(messageId) {
      // At once, so that only one of two replacements wins.
      for (const later of [...ofPerson].slice([...ofPerson].indexOf(messageId))) ofPerson.delete(later);
      const at = queue.findIndex((item) => item.messageId === messageId);
      queue = queue.filter((item, i) => i < at || !item.fromPerson);
      return at >= 0;
    },
    settle: () => ofPerson.clear(),
    clear: () => void (queue = []),
  };
}
