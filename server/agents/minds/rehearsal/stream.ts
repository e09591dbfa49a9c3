/** A reply as the Messages API streams it: server-sent events, word by word. */
import { REHEARSAL_MODEL } from '../../../../src/shared/domain/prices.ts';
import type { ReplyPart } from './reply.ts';

/** One event and how long to wait before it. */
export interface Beat {
  readonly afterMs: number;
  readonly event: Readonly<Record<string, unknown>> & { readonly type: string };
}

/** Words that leave together where nobody wants to watch them arrive. */
const WORDS_AT_ONCE = 12;
const CHARACTERS_PER_TOKEN = 4;
const tokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN);

function pieces(text: string, wordMs: number): string[] {
  const all = text.match(/\s*\S+/g) ?? [];
  if (wordMs > 0) return all;
  const grouped: string[] = [];
  for (let i = 0; i < all.length; i += WORDS_AT_ONCE) grouped.push(all.slice(i, i + WORDS_AT_ONCE).join(''));
  return grouped;
}

function* wordBeats(index: number, text: string, firstMs: number, wordMs: number): Generator<Beat> {
  yield { afterMs: firstMs, event: { type: 'content_block_start', index, content_block: { type: 'text', text: '' } } };
  for (const piece of pieces(text, wordMs))
    yield {
      afterMs: wordMs,
      event: { type: 'content_block_delta', index, delta: { type: 'text_delta', text: piece } },
    };
}

export interface ReplyTiming {
  readonly delayMs: number;
  readonly wordMs: number;
}

/** `id` names the message and its tool calls; `inputSize` is what was sent, in characters. */
export function* beats(
  parts: readonly ReplyPart[],
  id: string,
  inputSize: number,
  timing: ReplyTiming,
): Generator<Beat> {
  const usage = {
    input_tokens: tokens(inputSize),
    output_tokens: 1,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  yield {
    afterMs: 0,
    event: {
      type: 'message_start',
      message: {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        model: REHEARSAL_MODEL,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
  };
  let size = 0;
  for (const [index, part] of parts.entries()) {
    const firstMs = index === 0 ? timing.delayMs : 0;
    if (part.kind === 'words') {
      yield* wordBeats(index, part.text, firstMs, timing.wordMs);
      size += part.text.length;
    } else {
      const json = JSON.stringify(part.input);
      yield {
        afterMs: firstMs,
        event: {
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id: `toolu_${id}_${index}`, name: part.name, input: {} },
        },
      };
      yield {
        afterMs: 0,
        event: { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: json } },
      };
      size += json.length;
    }
    yield { afterMs: 0, event: { type: 'content_block_stop', index } };
  }
  const calls = parts.some((part) => part.kind === 'call');
  yield {
    afterMs: 0,
    event: {
      type: 'message_delta',
      delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: tokens(size) },
    },
  };
  yield { afterMs: 0, event: { type: 'message_stop' } };
}
