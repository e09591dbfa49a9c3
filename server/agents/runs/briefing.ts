/**
 * The briefing: what a mind is told besides its messages. That is the current state, its changes,
 * and why the agent was woken.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { type Around, createNews } from './context.ts';
import type { UserText } from './conversation.ts';
import type { Item } from './item.ts';

interface Briefing {
  /** The system prompt tells this state. */
  announced(around: Around, system: string): void;
  /** The next turn tells the agent this reason. */
  woken(why: string): void;
  /**
   * The texts in order: the prompts, changes of the state, who woke the agent, and the messages.
   */
  textsOf(items: readonly Item[], around: Around): UserText[];
}

const NO_NEWS: ReturnType<typeof createNews> = { announced: () => undefined, since: () => [] };

/** `timeEveryMs`: the agent is told the time again after this long. */
export function createBriefing(agentId: AgentId, timeEveryMs: number, tellsAround = true): Briefing {
  const news = tellsAround ? createNews(agentId, timeEveryMs) : NO_NEWS;
  const woken: string[] = [];
  return {
    announced: (around, system) => news.announced(around, system),
    woken: (why) => void woken.push(why),
    textsOf(items, around) {
      const prompts = items.flatMap(({ messageId, text }) =>
        typeof text === 'string' ? [] : [{ messageId, ...text(around) }],
      );
      if (prompts.length > 0) news.announced(around, prompts.map(({ text }) => text).join('\n'));
      const notes = [...news.since(around), ...woken.splice(0)].map((text) => ({ messageId: null, text }));
      return [...prompts, ...notes, ...saidIn(items)];
    },
  };
}

/** The messages, without the prompts. */
export const saidIn = (items: readonly Item[]): UserText[] =>
  items.flatMap(({ messageId, text, attachments = [] }) =>
    typeof text === 'string' ? [{ messageId, text, attachments }] : [],
  );
