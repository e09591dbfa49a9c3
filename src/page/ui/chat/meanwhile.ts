import type { LogItem } from '../../state/conversation-log.ts';

/** A message that the person sent during an answer. It stands below the answer until it is read. */
export type WrittenMeanwhile = Extract<LogItem, { readonly kind: 'message' | 'queued' | 'sending' }>;
const isMeanwhile = (item: LogItem): item is WrittenMeanwhile =>
  item.kind === 'queued' ||
  (item.kind === 'message' && item.waits === 'answer') ||
  // An edit stands in the place of the message it replaces.
  (item.kind === 'sending' && (item.sending.to === 'thread' || item.sending.replaces === null));

/** The log of an answering agent, without the messages that wait for the end of the answer. */
export function withoutMeanwhile(items: readonly LogItem[]): {
  readonly log: readonly LogItem[];
  readonly meanwhile: readonly WrittenMeanwhile[];
} {
  const meanwhile = items.filter(isMeanwhile);
  return meanwhile.length === 0
    ? { log: items, meanwhile }
    : { log: items.filter((item) => !isMeanwhile(item)), meanwhile };
}
