/**
 * Whether an answer that a model has ended came to anything: silence and calls that nobody ran are
 * no end. Pure.
 */
import type { MindBlock } from '../minds/index.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';
import { isLeakedCall } from './leaked-call.ts';

/**
 * `silent`: it said nothing and did nothing. `after-failure`: it said nothing after a tool had
 * failed. `leaked`: it wrote a call of a tool as text.
 */
export type Unfinished = 'silent' | 'after-failure' | 'leaked';

export interface EndedAnswer {
  /** What the model's last turn brought. */
  readonly blocks: readonly MindBlock[];
  /** Something was said or done before that, in the same answer. */
  readonly didBefore: boolean;
  /** The tool of the turn before that failed; null: none did. */
  readonly failedTool: string | null;
  /** Names of the tools that the model was told of. */
  readonly tools: ReadonlySet<string>;
}

/** Null: it came to its end. `error`: a sentence for people. */
export function unfinished({
  blocks,
  didBefore,
  failedTool,
  tools,
}: EndedAnswer): { readonly why: Unfinished; readonly error: string } | null {
  const words = blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
  if (isLeakedCall(words, tools))
    return {
      why: 'leaked',
      error: sentence`This model wrote a tool call as text: its server does not support tools for it. What it wanted was not done. Choose another model in the settings.`,
    };
  if (words.trim() !== '') return null;
  if (failedTool !== null)
    return { why: 'after-failure', error: sentence`It said nothing after ${failedTool} had failed.` };
  if (didBefore || blocks.some(({ kind }) => kind === 'web')) return null;
  return {
    why: 'silent',
    error: isThinking(blocks) ? sentence`It thought, and said nothing.` : sentence`It answered, but said nothing.`,
  };
}

/** Thoughts are what an answer without words costs. */
export const isThinking = (blocks: readonly MindBlock[]): boolean =>
  blocks.some(({ kind }) => kind === 'thinking' || kind === 'redacted-thinking');
