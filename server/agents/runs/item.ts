import type { SentAttachment } from '../../../src/shared/domain/attachment.ts';
import type { MessageId } from '../../../src/shared/domain/ids.ts';
import { PRIORITIES, type Priority } from '../minds/index.ts';
import type { Around, Prompt } from './context.ts';

/** Something to be put before a speaker. */
export interface Item {
  /** Null for prompts. */
  readonly messageId: MessageId | null;
  /**
   * A function: a prompt that says how things are when it is put, and stays when the conversation
   * outgrows its model.
   */
  readonly text: string | ((around: Around) => Prompt);
  /** Tools by name that it needs: they are at hand with it. */
  readonly tools?: readonly string[];
  /** Pictures and files that came with it. */
  readonly attachments?: readonly SentAttachment[];
  /** Put with nothing else. */
  readonly alone?: boolean;
  /** The person's own words. */
  readonly fromPerson?: boolean;
  /** Default: `person` for the person's words, `team` for all else. */
  readonly priority?: Priority;
  /** Cut the conversation back to before this message first. */
  readonly replaces?: string;
}

/** Of what is put together, the most urgent counts. */
export const priorityOf = (items: readonly Item[]): Priority => {
  const wanted = items.map((item) => item.priority ?? (item.fromPerson ? 'person' : 'team'));
  return PRIORITIES.find((priority) => wanted.includes(priority)) ?? 'team';
};

/**
 * How many of what waits are put together: up to one that is put alone, or that takes something
 * back.
 */
export function countTogether(waiting: readonly Item[]): number {
  if (waiting[0]?.alone) return 1;
  const until = waiting.findIndex((item, i) => i > 0 && (item.alone || item.replaces !== undefined));
  return until === -1 ? waiting.length : until;
}
