/**
 * What is put before a mind besides what was said to it: how things are, what of that has changed,
 * and why it was woken.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { createNews, type Around } from './around.ts';
import type { UserText } from './conversation.ts';
import type { Item } from './item.ts';

export interface Briefing {
  /** Its system prompt says how things are. */
  announced(around: Around, system: string): void;
  /** Told with its next turn. */
  woken(why: string): void;
  /**
   * As they are put: the prompts first, then what has changed since, who woke it, and what was
   * said.
   */
  textsOf(items: readonly Item[], around: Around): UserText[];
}

/** `timeEveryMs`: after so long it is told the time again. */
export function createBriefing(agentId: AgentId, timeEveryMs: number): Briefing {
  const news = createNews(agentId, timeEveryMs);
  const woken: string[] = [];
  return {
    announced: (around, system) => news.announced(around, system),
    woken: (why) => void woken.push(why),
    textsOf(items, around) {
      const prompts = items.flatMap(({ messageId, text }) =>
        typeof text === 'string' ? [] : [{ messageId, ...text(around) }],
      );
      for (const { text } of prompts) news.announced(around, text);
      const notes = [...news.since(around), ...woken.splice(0)].map((text) => ({ messageId: null, text }));
      return [...prompts, ...notes, ...saidIn(items)];
    },
  };
}

/** What was said, without the prompts. */
export const saidIn = (items: readonly Item[]): UserText[] =>
  items.flatMap(({ messageId, text, attachments = [] }) =>
    typeof text === 'string' ? [{ messageId, text, attachments }] : [],
  );
