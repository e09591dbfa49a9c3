/**
 * A request of the Messages API in the words of a mind, for servers that speak another protocol.
 * What would change the meaning of an answer and cannot be said in all protocols is refused, by
 * name; hints such as a temperature are left out. https://platform.claude.com/docs/en/api/messages
 */
import { z } from 'zod';
import type { MindBlock, MindMessage, MindRequest, MindTool } from '../minds/index.ts';
import { PROXY_LIMITS } from './settings.ts';

const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
const pictureSource = z.looseObject({
  type: z.literal('base64'),
  media_type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  data: z.string(),
});
const pictureBlock = z.looseObject({ type: z.literal('image'), source: pictureSource });
const documentBlock = z.looseObject({
  type: z.literal('document'),
  title: z.string().nullish(),
  source: z.union([
    z.looseObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: z.string() }),
    z.looseObject({ type: z.literal('text'), data: z.string() }),
  ]),
});
const resultBlock = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  is_error: z.boolean().nullish(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).optional(),
});
const callBlock = z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() });
/** Thoughts of another model, which this one cannot open. */
const thoughtBlock = z.looseObject({ type: z.enum(['thinking', 'redacted_thinking']) });
const block = z.discriminatedUnion('type', [
  textBlock,
  pictureBlock,
  documentBlock,
  resultBlock,
  callBlock,
  thoughtBlock,
]);
const texts = z.union([z.string(), z.array(textBlock)]);

const tool = z.looseObject({
  type: z.literal('custom').nullish(),
  name: z.string(),
  description: z.string().nullish(),
  input_schema: z.looseObject({
    properties: z.record(z.string(), z.unknown()).nullish(),
    required: z.array(z.string()).nullish(),
    $defs: z.record(z.string(), z.unknown()).nullish(),
  }),
});
const none = (what: string) => z.array(z.unknown()).max(0, `${what} cannot be passed on`).nullish();
const schema = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().positive(),
  system: texts.nullish(),
  messages: z
    .array(
      z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: z.union([z.string(), z.array(block)]) }),
    )
    .min(1),
  tools: z.array(z.looseObject({ type: z.string().nullish() })).nullish(),
  tool_choice: z.looseObject({ type: z.enum(['auto', 'none'], 'a call that is forced cannot be passed on') }).nullish(),
  stop_sequences: none('they'),
  mcp_servers: none('they'),
});

const textsOf = (content: z.infer<typeof texts>): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('\n\n');

function resultOf({ tool_use_id, is_error, content = '' }: z.infer<typeof resultBlock>): MindBlock {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const said = parts.map((part) => {
    const text = textBlock.safeParse(part);
    if (text.success) return text.data.text;
    return pictureBlock.safeParse(part).success ? '[a picture]' : `[${part.type}, which this model cannot be shown]`;
  });
  const picture = parts.map((part) => pictureBlock.safeParse(part)).find(({ success }) => success)?.data;
  return {
    kind: 'tool-result',
    toolUseId: tool_use_id,
    text: said.join('\n'),
    isError: is_error === true,
    ...(picture ? { picture: { type: picture.source.media_type, data: picture.source.data } } : {}),
  };
}

function blocksOf(each: z.infer<typeof block>, known: KnownCalls): readonly MindBlock[] {
  switch (each.type) {
    case 'text':
      return each.text === '' ? [] : [{ kind: 'text', text: each.text }];
    case 'image': {
      const { media_type: type, data } = each.source;
      return [{ kind: 'picture', name: 'a picture', picture: { type, data } }];
    }
    case 'document': {
      const { source, title } = each;
      if (source.type === 'text') return [{ kind: 'text', text: source.data }];
      return [{ kind: 'document', name: title ?? 'a document', data: source.data }];
    }
    case 'tool_result':
      return [resultOf(each)];
    case 'tool_use':
      return known.of(each.id) ?? [{ kind: 'tool-use', toolUseId: each.id, name: each.name, input: each.input }];
    case 'thinking':
    case 'redacted_thinking':
      return [];
    default:
      return each satisfies never;
  }
}

/**
 * Calls that a model made, with what its provider sealed and wants handed back: clients cannot
 * carry that.
 */
export interface KnownCalls {
  /** The call, and what has to stand before it; null: it is not known, or was forgotten. */
  of(toolUseId: string): readonly MindBlock[] | null;
  note(toolUseId: string, blocks: readonly MindBlock[]): void;
}
export function createKnownCalls(most: number = PROXY_LIMITS.sealedCalls): KnownCalls {
  const calls = new Map<string, readonly MindBlock[]>();
  return {
    of: (toolUseId) => calls.get(toolUseId) ?? null,
    note(toolUseId, blocks) {
      calls.set(toolUseId, blocks);
      for (const oldest of calls.keys()) {
        if (calls.size <= most) break;
        calls.delete(oldest);
      }
    },
  };
}

/** Of one role after the other; what a client says as the system in between is the user's turn. */
function alternating(messages: z.infer<typeof schema>['messages'], known: KnownCalls): MindMessage[] {
  const all: { role: MindMessage['role']; blocks: MindBlock[] }[] = [];
  for (const { role: given, content } of messages) {
    const role = given === 'assistant' ? 'assistant' : 'user';
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const blocks = parts.flatMap((each) => blocksOf(each, known));
    if (blocks.length === 0) continue;
    const last = all.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else all.push({ role, blocks });
  }
  return all;
}

function toolsOf(given: z.infer<typeof schema>['tools']): MindTool[] {
  return (given ?? []).flatMap((each) => {
    // Tools that Anthropic runs, or knows by their type, other models do not have.
    const parsed = tool.safeParse(each);
    if (!parsed.success) return [];
    const { name, description, input_schema: input } = parsed.data;
    return {
      name,
      description: description ?? '',
      properties: input.properties ?? {},
      required: input.required ?? [],
      ...(input.$defs ? { definitions: input.$defs } : {}),
    };
  });
}

export type Translated =
  | { readonly ok: true; readonly request: MindRequest }
  | { readonly ok: false; readonly why: string };

export function mindRequestOf(body: unknown, known: KnownCalls): Translated {
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, why: `${issue?.path.join('.') ?? 'the body'}: ${issue?.message ?? 'cannot be read'}` };
  }
  const { model, max_tokens: maxTokens, system, messages, tools, tool_choice: choice } = parsed.data;
  const said = alternating(messages, known);
  if (said.at(-1)?.role !== 'user') return { ok: false, why: 'messages: the last one has to be the user’s' };
  if (said[0]?.role !== 'user') said.unshift({ role: 'user', blocks: [{ kind: 'text', text: '[Go on.]' }] });
  return {
    ok: true,
    request: {
      ...{ priority: 'team', model, maxTokens, messages: said },
      system: system ? textsOf(system) : '',
      tools: choice?.type === 'none' ? [] : toolsOf(tools),
    },
  };
}
