import type { LogItem } from '../../state/conversation-log.ts';

/** What was written while an answer is being given, and stands below it until it is read. */
export type WrittenMeanwhile = Extract<LogItem, { readonly kind: 'message' | 'queued' | 'sending' }>;
const isMeanwhile = (item: LogItem): item is WrittenMeanwhile =>
  item.kind === 'queued' ||
  (item.kind === 'message' && item.waits === 'answer') ||
  // What changes an earlier message stands in its place.
  (item.kind === 'sending' && (!('replaces' in item.sending) || item.sending.replaces === null));

/** The log of somebody who is answering, and what waits for the end of that. */
export function withoutMeanwhile(items: readonly LogItem[]): {
  readonly log: readonly LogItem[];
  readonly meanwhile: readonly WrittenMeanwhile[];
} {
  const meanwhile = items.filter(isMeanwhile);
  return meanwhile.length === 0
    ? { log: items, meanwhile }
    : { log: items.filter((item) => !isMeanwhile(item)), meanwhile };
}
