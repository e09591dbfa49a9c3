import type { SentAttachment } from '../../../src/shared/domain/attachment.ts';
import type { MessageId } from '../../../src/shared/domain/ids.ts';
import { PRIORITIES, type Priority } from '../minds/index.ts';
import type { Around, Prompt } from './context.ts';

/** Limits of one answer. */
export interface AnswerBounds {
  /** Most requests to the mind. */
  readonly requests: number;
  readonly answerTokens: number;
  /** Most that all requests may cost at their highest price, in millionths of a dollar. */
  readonly mostMicroUsd: number;
}

/** An item to deliver to a speaker. */
export interface Item {
  /** Null for prompts. */
  readonly messageId: MessageId | null;
  /**
   * A function returns a prompt with the state at delivery. The prompt stays when the conversation
   * outgrows its model.
   */
  readonly text: string | ((around: Around) => Prompt);
  /** Names of tools that it needs. They are offered with it. */
  readonly tools?: readonly string[];
  /** Attached pictures and files. */
  readonly attachments?: readonly SentAttachment[];
  /** Delivered separately from all other items. */
  readonly alone?: boolean;
  /** Written by the person. */
  readonly fromPerson?: boolean;
  /** By which way it brings text of others; see `server/team/memory/foreign.ts`. */
  readonly way?: string;
  /** Default: `person` for the person's words, `team` for everything else. */
  readonly priority?: Priority;
  /** Limits of the answer to it. Left out: those of the run. */
  readonly bounds?: AnswerBounds;
  /** First cuts the conversation back to before this message. */
  readonly replaces?: string;
}

/** The most urgent item decides for all that are delivered together. */
export const priorityOf = (items: readonly Item[]): Priority => {
  const wanted = items.map((item) => item.priority ?? (item.fromPerson ? 'person' : 'team'));
  return PRIORITIES.find((priority) => wanted.includes(priority)) ?? 'team';
};

/**
 * How many waiting items are delivered together. The batch ends at an item that is delivered alone
 * or that replaces a message.
 */
export function countTogether(waiting: readonly Item[]): number {
  if (waiting[0]?.alone) return 1;
  const until = waiting.findIndex((item, i) => i > 0 && (item.alone || item.replaces !== undefined));
  return until === -1 ? waiting.length : until;
}
