/**
 * Whether an answer that a model has ended came to anything: silence and calls that nobody ran are
 * no end. Pure.
 */
import type { MindBlock } from '../minds/index.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';

/*
 * A tool call that a model wrote as text: its server did not recognise it as one, because it knows
 * no tools, or not this model's way to write them. It is recognised so that it can be said. It is
 * never run. Pure.
 *
 * Models are trained on marks of their own: Hermes and Qwen `<tool_call>{…}`, Llama `<function=…>`
 * and `<|python_tag|>`, Mistral `[TOOL_CALLS]`, DeepSeek `<｜tool▁calls▁begin｜>`, Kimi
 * `<|tool_calls_section_begin|>`, Phi and Granite `<|tool_call|>`, gpt-oss `to=functions.…`, LFM
 * `<|tool_call_start|>`, Command `<|START_ACTION|>`, older Claude `<function_calls>`. Others write
 * JSON, alone or in a fence.
 */

/** A mark, and the beginning of what is called behind it. */
const MARKED = new RegExp(
  [
    String.raw`<(?:\w+:)?(?:tool|function)_?calls?>\s*[[{<\w]`,
    String.raw`<\|(?:tool|function)_?calls?\|>\s*[[{\w]`,
    String.raw`<function=[\w.-]+>`,
    String.raw`<invoke name=`,
    String.raw`\[TOOL_CALLS\]\s*[[{\w]`,
    String.raw`<\|python_tag\|>\s*[[{\w]`,
    String.raw`<[｜|]tool[▁_]calls?[▁_](?:section[▁_])?(?:begin|start)[｜|]>`,
    String.raw`<\|(?:START_ACTION|action_start)\|>`,
    String.raw`<\|channel\|>\w*\s*to=`,
    String.raw`\bto=functions\.\w`,
  ].join('|'),
);
/** How a call ends that is the end of a text. */
const ENDS = /[\]})>`"']$/;
const FENCED = /```[ \t]*([\w-]*)[ \t]*\r?\n?([\s\S]*?)(?:```|$)/g;
const INLINE = /`[^`\n]+`/g;
/** The name and the input of a call, as JSON has them, however it is nested. */
const JSON_NAME = /"(?:name|function|tool|tool_name)"\s*:\s*"([^"\n]+)"/;
const JSON_INPUT = /"(?:arguments|parameters|input|args|tool_input)"\s*:\s*["{]/;
/** Characters of a text in which the name of a call stands, where it is one. */
const HEAD = 400;

/**
 * `isAll`: the text is nothing else. Then it is a call whatever it calls; else it calls one of the
 * tools that there are.
 */
function isJsonCall(text: string, tools: ReadonlySet<string>, isAll: boolean): boolean {
  if (!/^[[{]/.test(text) || !/[\]}]$/.test(text)) return false;
  const name = JSON_NAME.exec(text.slice(0, HEAD))?.[1];
  return name !== undefined && JSON_INPUT.test(text) && (isAll || tools.has(name));
}

const callsOne = (code: string, tools: ReadonlySet<string>) => {
  const name = /^(?:print\()?\s*(?:\w+\.)?(\w+)\(/.exec(code)?.[1];
  return name !== undefined && tools.has(name);
};

/**
 * Whether these words end in a call of a tool. `tools`: names of those that the model was told of.
 */
export function isLeakedCall(words: string, tools: ReadonlySet<string>): boolean {
  const text = words.trim();
  if (tools.size === 0 || !ENDS.test(text)) return false;
  const last = [...text.matchAll(FENCED)].at(-1);
  if (last && last.index + last[0].length === text.length) {
    const [whole, language = '', body = ''] = last;
    const code = body.trim();
    const isAll = whole.length === text.length;
    return (
      isJsonCall(code, tools, isAll) ||
      (language === 'tool_code' && callsOne(code, tools)) ||
      (MARKED.test(code) && [...tools].some((name) => code.includes(name)))
    );
  }
  if (isJsonCall(text, tools, true)) return true;
  // A paragraph of its own behind the words.
  const paragraph = text.slice(text.search(/(?:^|\n)[ \t]*[[{][^\n]*(?:\n(?!\s*\n)[^\n]*)*$/)).trim();
  if (isJsonCall(paragraph, tools, false)) return true;
  // What stands in code is spoken of.
  return MARKED.test(text.replaceAll(FENCED, '').replaceAll(INLINE, ''));
}

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
