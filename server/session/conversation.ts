/**
 * One conversation as a mind is given it. It stays valid for the Messages API whatever happens to an
 * answer: roles alternate, no text is empty, every tool call has a result.
 */
import type { MindBlock, MindMessage } from '../minds/index.ts';

export interface UserText {
  /** The message of the ledger this text came with; null for prompts. */
  readonly messageId: string | null;
  readonly text: string;
}

export interface ToolResult {
  readonly toolUseId: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface Conversation {
  addUser(texts: readonly UserText[]): void;
  /** What the mind said, also where it was cut; what must not be handed back is left out. */
  addAnswer(blocks: readonly MindBlock[]): void;
  addResults(results: readonly ToolResult[]): void;
  /** Gives every tool call that has no result yet this one. */
  closeCalls(reason: string): void;
  /** Cuts back to before this message. False where it is not in the conversation. */
  cutBefore(messageId: string): boolean;
  messages(): MindMessage[];
}

interface Entry {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly { readonly messageId: string | null; readonly block: MindBlock }[];
}

/** Stands for a message of nothing but blanks, which the Messages API refuses. */
const BLANK = '(an empty message)';

const isBlank = (text: string) => text.trim() === '';
const worthKeeping = (block: MindBlock) => block.kind !== 'text' || !isBlank(block.text);
const part = (block: MindBlock, messageId: string | null = null) => ({ messageId, block });

/** Results stand before texts in a user turn: the Messages API wants them right after the calls. */
const resultsFirst = (blocks: readonly MindBlock[]) => [...blocks.filter((block) => block.kind === 'tool-result'), ...blocks.filter((block) => block.kind !== 'tool-result')];

export function createConversation(): Conversation {
  let entries: Entry[] = [];

  function openCalls(): string[] {
    const index = entries.findLastIndex((entry) => entry.role === 'assistant');
    const calls = (entries[index]?.parts ?? []).flatMap(({ block }) => (block.kind === 'tool-use' ? [block.toolUseId] : []));
    const answered = new Set(entries.slice(index + 1).flatMap((entry) => entry.parts.flatMap(({ block }) => (block.kind === 'tool-result' ? [block.toolUseId] : []))));
    return calls.filter((call) => !answered.has(call));
  }

  function addResults(results: readonly ToolResult[]): void {
    if (results.length > 0) entries.push({ role: 'user', parts: results.map((result) => part({ kind: 'tool-result', ...result })) });
  }

  return {
    addUser(texts) {
      entries.push({ role: 'user', parts: texts.map(({ messageId, text }) => part({ kind: 'text', text: isBlank(text) ? BLANK : text }, messageId)) });
    },
    addAnswer(blocks) {
      const kept = blocks.filter(worthKeeping);
      // Thoughts alone are not an answer, and may not stand alone.
      if (kept.some((block) => block.kind === 'text' || block.kind === 'tool-use')) entries.push({ role: 'assistant', parts: kept.map((block) => part(block)) });
    },
    addResults,
    closeCalls: (reason) => addResults(openCalls().map((toolUseId) => ({ toolUseId, text: reason, isError: true }))),
    cutBefore(messageId) {
      const index = entries.findIndex((entry) => entry.parts.some((item) => item.messageId === messageId));
      const entry = entries[index];
      if (!entry) return false;
      const before = entry.parts.slice(0, entry.parts.findIndex((item) => item.messageId === messageId));
      entries = entries.slice(0, index);
      if (before.length > 0) entries.push({ role: 'user', parts: before });
      return true;
    },
    messages() {
      const merged: { role: Entry['role']; blocks: MindBlock[] }[] = [];
      for (const entry of entries) {
        const blocks = entry.parts.map(({ block }) => block);
        const last = merged.at(-1);
        if (last?.role === entry.role) last.blocks.push(...blocks);
        else merged.push({ role: entry.role, blocks });
      }
      return merged.map(({ role, blocks }) => ({ role, blocks: role === 'user' ? resultsFirst(blocks) : blocks }));
    },
  };
}
