/**
 * The Messages API before a server that speaks another protocol: the mind that speaks it is asked,
 * and its answer is written as Anthropic's.
 */
import { tookOf, type Mind, type MindAnswer, type MindBlock, type MindError } from '../minds/index.ts';
import { wholeAnswer, type Account, type ProxyAnswer } from './answer.ts';
import type { ProxyBody } from './body.ts';
import { errorEvent, event, type ProxyError } from './errors.ts';
import { mindRequestOf, type KnownCalls } from './translated-request.ts';

export interface TranslatorDeps {
  readonly known: KnownCalls;
  readonly newId: () => string;
  /** What could not be counted is ours to know. */
  readonly onError: (error: unknown) => void;
}
export type Translate = (
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
  // As Anthropic says it: 413 is for bytes.
  'too-large': 'malformed',
  'refused-request': 'malformed',
  'upstream-broken': 'unreachable',
};
const errorOf = ({ kind, message }: MindError): ProxyError => ({ kind: KINDS[kind], message });

const STOPS = { end: 'end_turn', tools: 'tool_use', length: 'max_tokens', refusal: 'refusal' } as const;

/** What it says, piece by piece, until `end`. */
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
    /** Null: there are no more. */
    async next(): Promise<string | null> {
      while (pieces.length === 0 && !over) await new Promise<void>((resolve) => (wake = resolve));
      return pieces.length > 0 ? pieces.splice(0).join('') : null;
    },
  };
}

const isCall = (block: MindBlock) => block.kind === 'tool-use';

export function createTranslator({ known, newId, onError }: TranslatorDeps): Translate {
  /** Its calls under ids of ours: those of some servers come again in the next answer. */
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
        // It may have been sent: what nobody tells is counted at the most.
        await hold.settle({ sessionId, messageId: null, via: 'proxy', took: null }).catch(onError);
        throw error;
      } finally {
        words.end();
      }
    }
    const answered = ask();
    // The answer's reader handles a failure. A client that has left reads nothing.
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
