/**
 * The events of an answer as the Messages API documents them, read as leniently as can be: what
 * does not fit is left out, and nothing throws.
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import { z } from 'zod';
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import type { Sealed } from '../../contracts/mind.ts';

/**
 * A block as it begins. `raw`: as the server wrote it, for blocks that are handed back unchanged.
 */
export type WireBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly kind: 'redacted-thinking'; readonly data: string }
  /** `id`, `name`: null where there is none that can be used. */
  | { readonly kind: 'call'; readonly id: string | null; readonly name: string | null; readonly input: unknown }
  | { readonly kind: 'of-server'; readonly raw: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unknown' };

export type WireDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly thinking: string }
  | { readonly kind: 'signature'; readonly signature: string }
  | { readonly kind: 'input'; readonly json: string }
  /** To be handed back with the block. */
  | { readonly kind: 'sealed'; readonly sealed: Sealed };

/** `index`: which block of the answer it is of; null: the server does not say. */
export type WireEvent =
  | { readonly kind: 'begin'; readonly usage: unknown; readonly content: readonly WireBlock[] }
  | { readonly kind: 'block'; readonly index: number | null; readonly block: WireBlock }
  | { readonly kind: 'delta'; readonly index: number | null; readonly delta: WireDelta }
  | { readonly kind: 'block-end'; readonly index: number | null }
  /** How the answer ends, and what it took. */
  | { readonly kind: 'end'; readonly reason: string | null; readonly usage: unknown }
  /** Nothing follows. */
  | { readonly kind: 'over' }
  /** A whole answer in one piece. */
  | {
      readonly kind: 'whole';
      readonly content: readonly WireBlock[];
      readonly reason: string | null;
      readonly usage: unknown;
    }
  /** `body`: as the server wrote it. */
  | { readonly kind: 'error'; readonly body: Readonly<Record<string, unknown>> }
  /** It says only that the line is alive, or nothing that is known. */
  | { readonly kind: 'other' };

const word = z.string().catch('');
const wordOrNull = z.string().nullable().catch(null);
const indexSchema = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  ])
  .nullable()
  .catch(null);
const fieldsSchema = z.record(z.string(), z.unknown()).catch({});

/** Blocks of what the server does by itself: the search for tools, and the web. */
const OF_SERVER: ReadonlySet<unknown> = new Set([
  'server_tool_use',
  'tool_search_tool_result',
  'web_search_tool_result',
  'web_fetch_tool_result',
]);

/** Words without a type count as words: some servers leave the type of a block or a delta out. */
function blockOf(value: unknown): WireBlock {
  if (!isRecord(value)) return { kind: 'unknown' };
  const { type } = value;
  if (OF_SERVER.has(type)) return { kind: 'of-server', raw: value };
  if (type === 'tool_use') {
    const { id, name, input } = value;
    return { kind: 'call', id: wordOrNull.parse(id), name: wordOrNull.parse(name), input };
  }
  if (type === 'redacted_thinking') return { kind: 'redacted-thinking', data: word.parse(value['data']) };
  if (type === 'thinking' || (typeof type !== 'string' && typeof value['thinking'] === 'string'))
    return { kind: 'thinking', thinking: word.parse(value['thinking']), signature: word.parse(value['signature']) };
  if (type === 'text' || (typeof type !== 'string' && typeof value['text'] === 'string'))
    return { kind: 'text', text: word.parse(value['text']) };
  return { kind: 'unknown' };
}

function deltaOf(value: unknown): WireDelta | null {
  const { text, thinking, signature, partial_json: json } = fieldsSchema.parse(value);
  if (typeof text === 'string') return { kind: 'text', text };
  if (typeof thinking === 'string') return { kind: 'thinking', thinking };
  if (typeof signature === 'string') return { kind: 'signature', signature };
  if (typeof json === 'string') return { kind: 'input', json };
  return isRecord(json) ? { kind: 'input', json: JSON.stringify(json) } : null;
}

/** A whole answer may be one text. */
const contentOf = (value: unknown): readonly WireBlock[] =>
  typeof value === 'string' ? [{ kind: 'text', text: value }] : Array.isArray(value) ? value.map(blockOf) : [];

const OTHER: WireEvent = { kind: 'other' };

/**
 * `named`: the type that the stream gives the event beside its data; that in the data comes first.
 */
export function eventOf(data: unknown, named: string | undefined): WireEvent {
  if (!isRecord(data)) return OTHER;
  const type = typeof data['type'] === 'string' ? data['type'] : named;
  const index = indexSchema.parse(data['index'] ?? null);
  switch (type) {
    case 'message_start': {
      const message = fieldsSchema.parse(data['message']);
      return { kind: 'begin', usage: message['usage'], content: contentOf(message['content']) };
    }
    case 'content_block_start':
      return { kind: 'block', index, block: blockOf(data['content_block']) };
    case 'content_block_delta': {
      const delta = deltaOf(data['delta']);
      return delta ? { kind: 'delta', index, delta } : OTHER;
    }
    case 'content_block_stop':
      return { kind: 'block-end', index };
    case 'message_delta':
      return {
        kind: 'end',
        reason: wordOrNull.parse(fieldsSchema.parse(data['delta'])['stop_reason']),
        usage: data['usage'],
      };
    case 'message_stop':
      return { kind: 'over' };
    case 'error':
      return { kind: 'error', body: data };
    case 'ping':
      return OTHER;
    default: {
      const { content, error, role } = data;
      if (type === 'message' || (type === undefined && role === 'assistant'))
        if (typeof content === 'string' || Array.isArray(content))
          return {
            kind: 'whole',
            content: contentOf(content),
            reason: wordOrNull.parse(data['stop_reason']),
            usage: data['usage'],
          };
      // Servers that translate between two protocols let the other one's errors through.
      return isRecord(error) || typeof error === 'string' ? { kind: 'error', body: data } : OTHER;
    }
  }
}
