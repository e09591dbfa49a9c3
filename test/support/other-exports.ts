/** Exports of other products, made from their documented formats. */

/** Seconds since the epoch, with fractions, as ChatGPT writes them. */
export const CHATGPT_START = 1_756_000_000.25;

interface ChatGptNode {
  readonly id: string;
  readonly parent: string | null;
  readonly role?: string;
  readonly content?: object;
  readonly more?: object;
  /** Seconds after the start. */
  readonly after?: number;
}

const chatGptText = (text: string) => ({ content_type: 'text', parts: [text] });

/** A message of the person; its `metadata` is missing, as in exports of August 2026. */
export const chatGptAsked = (id: string, parent: string | null, text: string, after = 0): ChatGptNode => ({
  ...{ id, parent, role: 'user', content: chatGptText(text), after },
});
export const chatGptSaid = (id: string, parent: string | null, text: string, after = 0): ChatGptNode => ({
  ...{ id, parent, role: 'assistant', content: chatGptText(text), after },
  more: { metadata: {}, recipient: 'all', end_turn: true },
});

/**
 * A conversation as in ChatGPT’s exports of August 2026: without `children`, with a root that has
 * no message, and with the model at the conversation.
 */
export function chatGptConversation(
  id: string,
  nodes: readonly ChatGptNode[],
  given: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const rows = nodes.map(({ id: node, parent, role, content, more = {}, after = 0 }) => [
    node,
    {
      ...{ id: node, parent },
      message:
        role === undefined
          ? null
          : { id: node, author: { role, name: null }, create_time: CHATGPT_START + after, content, ...more },
    },
  ]);
  return {
    ...{ id, conversation_id: id, title: `About ${id}`, default_model_slug: 'gpt-5' },
    ...{ create_time: CHATGPT_START, update_time: CHATGPT_START + 900.5, current_node: nodes.at(-1)?.id },
    mapping: Object.fromEntries(rows),
    ...given,
  };
}

/** A root without a message, a question and its answer. */
export const chatGptShort = (id: string, asked: string, said: string): Record<string, unknown> =>
  chatGptConversation(id, [
    { id: 'root', parent: null },
    chatGptAsked('q', 'root', asked),
    chatGptSaid('a', 'q', said, 4.75),
  ]);
