/**
 * The system prompt of one conversation. It says what the agent can do. A changed list of tools
 * invalidates the model's cache anyway, so the prompt is rewritten with it.
 */

export interface SystemPrompt {
  text(): string;
  /** These tools are offered now. Returns whether the prompt was written for the first time. */
  offer(tools: readonly string[]): boolean;
  /**
   * The older part of the conversation is gone. It may have held a soul that the agent wrote there.
   * The prompt has it from now on.
   */
  shorten(): void;
}

export function createSystemPrompt(write: (tools: ReadonlySet<string>, isShortened: boolean) => string): SystemPrompt {
  /** The tools for which the prompt was written; null: it is not written yet. */
  let writtenFor: { readonly key: string; readonly tools: ReadonlySet<string> } | null = null;
  let text = '';
  let isShortened = false;
  return {
    text: () => text,
    offer(tools) {
      const sorted = [...tools].sort();
      const key = sorted.join(' ');
      if (key === writtenFor?.key) return false;
      const isFirst = writtenFor === null;
      writtenFor = { key, tools: new Set(sorted) };
      text = write(writtenFor.tools, isShortened);
      return isFirst;
    },
    shorten() {
      isShortened = true;
      if (writtenFor) text = write(writtenFor.tools, isShortened);
    },
  };
}
