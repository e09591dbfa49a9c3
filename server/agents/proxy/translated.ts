/**
 * The Messages API for a server that speaks another protocol. The server's mind answers, and the
 * answer is written in Anthropic's form.
 */
import { z } from 'zod';
import {
  type Mind,
  type MindAnswer,
  type MindBlock,
  type MindError,
  type MindMessage,
  type MindRequest,
  type MindTool,
  tookOf,
} from '../minds/index.ts';
import { PROXY_LIMITS } from './settings.ts';
import { type Account, type ProxyAnswer, wholeAnswer } from './answer.ts';
import type { ProxyBody } from './body.ts';
import { errorEvent, event, type ProxyError } from './upstream.ts';

// Converts a request of the Messages API to a mind's request, for servers that speak another
// protocol. A feature that would change the meaning of an answer and does not exist in all
// protocols is refused by name. Hints such as a temperature are left out.
// https://platform.claude.com/docs/en/api/messages

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
/** Thoughts of another model, which this one cannot read. */
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
const none = (what: string) => z.array(z.unknown()).max(0, `${what} cannot be forwarded`).nullish();
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
  tool_choice: z.looseObject({ type: z.enum(['auto', 'none'], 'a forced tool call cannot be forwarded') }).nullish(),
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
    return pictureBlock.safeParse(part).success ? '[a picture]' : `[${part.type}, which this model cannot read]`;
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

function blocksOf(each: z.infer<typeof block>, calls: KnownCalls): readonly MindBlock[] {
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
      return calls.of(each.id) ?? [{ kind: 'tool-use', toolUseId: each.id, name: each.name, input: each.input }];
    case 'thinking':
    case 'redacted_thinking':
      return [];
    default:
      return each satisfies never;
  }
}

/**
 * A model's calls with the sealed data that its provider needs back. Clients cannot carry that
 * data.
 */
interface KnownCalls {
  /** The call, and the blocks that must precede it. Null: the call is unknown, or was forgotten. */
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

/**
 * Merges messages so that roles alternate. A client's system message in between becomes part of the
 * user's turn.
 */
function alternating(messages: z.infer<typeof schema>['messages'], calls: KnownCalls): MindMessage[] {
  const all: { role: MindMessage['role']; blocks: MindBlock[] }[] = [];
  for (const { role: given, content } of messages) {
    const role = given === 'assistant' ? 'assistant' : 'user';
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const blocks = parts.flatMap((each) => blocksOf(each, calls));
    if (blocks.length === 0) continue;
    const last = all.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else all.push({ role, blocks });
  }
  return all;
}

function toolsOf(requestedTools: z.infer<typeof schema>['tools']): MindTool[] {
  return (requestedTools ?? []).flatMap((each) => {
    // Other models do not have the tools that Anthropic runs or defines by type.
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

type Translated = { readonly ok: true; readonly request: MindRequest } | { readonly ok: false; readonly why: string };

function mindRequestOf(body: unknown, calls: KnownCalls): Translated {
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, why: `${issue?.path.join('.') ?? 'the body'}: ${issue?.message ?? 'cannot be read'}` };
  }
  const { model, max_tokens: maxTokens, system, messages, tools, tool_choice: choice } = parsed.data;
  const said = alternating(messages, calls);
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

interface TranslatorDeps {
  readonly known: KnownCalls;
  readonly newId: () => string;
  /** A failure to count. */
  readonly onError: (error: unknown) => void;
}
type Translate = (
  mind: Pick<Mind, 'answer'>,
  body: ProxyBody,
  account: Pick<Account, 'hold' | 'sessionId'>,
  signal: AbortSignal,
) => Promise<{ readonly ok: true; readonly answer: ProxyAnswer } | { readonly ok: false; readonly error: ProxyError }>;

const KINDS: Readonly<Record<MindError['kind'], ProxyError['kind']>> = {
  aborted: 'broken',
  'bad-key': 'bad-key',
  'no-such-model': 'no-such-call',
  'no-such-address': 'unreachable',
  overloaded: 'busy',
  'rate-limited': 'busy',
  'out-of-credit': 'budget-used-up',
  unreachable: 'unreachable',
  'stream-cut': 'unreachable',
  // Anthropic uses 413 for bytes only, so this is a malformed request.
  'too-large': 'malformed',
  'refused-request': 'malformed',
  'upstream-broken': 'unreachable',
};
const errorOf = ({ kind, message }: MindError): ProxyError => ({ kind: KINDS[kind], message });

const STOPS = { end: 'end_turn', tools: 'tool_use', length: 'max_tokens', refusal: 'refusal' } as const;

/** The text of the answer, piece by piece, until `end`. */
function createWords() {
  const pieces: string[] = [];
  let over = false;
  let wake: () => void = () => undefined;
  return {
    put(text: string) {
      pieces.push(text);
      wake();
    },
    end() {
      over = true;
      wake();
    },
    /** Null: the text is over. */
    async next(): Promise<string | null> {
      while (pieces.length === 0 && !over) await new Promise<void>((resolve) => (wake = resolve));
      return pieces.length > 0 ? pieces.splice(0).join('') : null;
    },
  };
}

const isCall = (block: MindBlock) => block.kind === 'tool-use';

export function createTranslator({ known, newId, onError }: TranslatorDeps): Translate {
  /** The answer's calls under new ids: some servers reuse ids in the next answer. */
  function callsOf(blocks: readonly MindBlock[]): Extract<MindBlock, { kind: 'tool-use' }>[] {
    const thoughts = blocks.filter(({ kind }) => kind === 'thinking');
    return blocks.filter(isCall).map((block, index) => {
      const call = { ...block, toolUseId: `toolu_${newId()}` };
      known.note(call.toolUseId, [...(index === 0 ? thoughts : []), call]);
      return call;
    });
  }
  const usageOf = ({ usage }: MindAnswer) => ({
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
    cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
  });
  const messageOf = (model: string) => ({
    id: `msg_${newId()}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  });
  const inputOf = ({ input }: { readonly input: unknown }) => input ?? {};

  function whole(model: string, answer: Extract<MindAnswer, { ok: true }>): ProxyAnswer {
    const words = answer.blocks.flatMap((block) => (block.kind === 'text' ? [{ type: 'text', text: block.text }] : []));
    const calls = callsOf(answer.blocks).map((call) => ({
      ...{ type: 'tool_use', id: call.toolUseId, name: call.name },
      input: inputOf(call),
    }));
    const message = {
      ...messageOf(model),
      content: [...words, ...calls],
      stop_reason: STOPS[answer.stop],
      usage: usageOf(answer),
    };
    return wholeAnswer(200, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify(message)));
  }

  async function* written(
    model: string,
    words: Pick<ReturnType<typeof createWords>, 'next'>,
    answered: Promise<MindAnswer>,
  ): ProxyAnswer['body'] {
    const say = (type: string, more: object) => event(type, { type, ...more });
    yield say('message_start', { message: { ...messageOf(model), usage: { input_tokens: 0, output_tokens: 0 } } });
    let index = 0;
    for (let text = await words.next(); text !== null; text = await words.next()) {
      if (index === 0) yield say('content_block_start', { index, content_block: { type: 'text', text: '' } });
      yield say('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
      index = 1;
    }
    if (index > 0) yield say('content_block_stop', { index: 0 });
    const answer = await answered;
    if (!answer.ok) return yield errorEvent(errorOf(answer.error));
    for (const call of callsOf(answer.blocks)) {
      const content_block = { type: 'tool_use', id: call.toolUseId, name: call.name, input: {} };
      yield say('content_block_start', { index, content_block });
      const partial_json = JSON.stringify(inputOf(call));
      yield say('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
      yield say('content_block_stop', { index });
      index += 1;
    }
    const delta = { stop_reason: STOPS[answer.stop], stop_sequence: null };
    yield say('message_delta', { delta, usage: usageOf(answer) });
    yield say('message_stop', {});
  }

  return async (mind, { json, stream, size }, { hold, sessionId }, signal) => {
    const translated = mindRequestOf(json, known);
    if (!translated.ok) {
      hold.release();
      const message = `This model’s server does not speak the Messages API, and this request cannot be said in its own. ${translated.why}.`;
      return { ok: false, error: { kind: 'malformed', message } };
    }
    const { request } = translated;
    const words = createWords();
    const listener = { onText: words.put, onLost: () => hold.again(), signal };
    async function ask(): Promise<MindAnswer> {
      try {
        const answer = await mind.answer(request, listener);
        const took = tookOf(size.model, answer);
        if (took === 'nothing') hold.release();
        else await hold.settle({ sessionId, messageId: null, via: 'proxy', took }).catch(onError);
        return answer;
      } catch (error) {
        // It may have been sent. Unknown usage is counted at its maximum.
        await hold.settle({ sessionId, messageId: null, via: 'proxy', took: null }).catch(onError);
        throw error;
      } finally {
        words.end();
      }
    }
    const answered = ask();
    // The answer's reader handles a failure. A client that has disconnected reads nothing.
    answered.catch(() => undefined);
    const first = stream ? await words.next() : null;
    if (first === null) {
      const answer = await answered;
      if (!answer.ok) return { ok: false, error: errorOf(answer.error) };
      if (!stream) return { ok: true, answer: whole(size.model, answer) };
    }
    let isFirst = true;
    const next = async () => {
      if (!isFirst) return await words.next();
      isFirst = false;
      return first;
    };
    return {
      ok: true,
      answer: {
        status: 200,
        headers: { 'content-type': 'text/event-stream; charset=utf-8' },
        body: written(size.model, { next }, answered),
        close: () =>
          answered.then(
            () => undefined,
            () => undefined,
          ),
      },
    };
  };
}
