/** A mind behind the Messages API: Anthropic's own, or any server that speaks it. */
import Anthropic from '@anthropic-ai/sdk';
import type { MindInfo } from '../../src/protocol/events.ts';
import type { Mind, MindAnswer, MindBlock, MindListener, MindRequest } from './mind.ts';
import { problemOf } from './problems.ts';
import { DEFAULT_MODELS, MIND_LIMITS, OFFICIAL_API, thinksAdaptively } from './settings.ts';
import { isWellFormed, mapStrings } from './well-formed.ts';
import { blockOf, charactersOf, requestParams, stopReasonOf, usageOf, type Shape } from './wire.ts';

/** How the key travels. `both` is understood by every local server we know of. */
export type KeyHeader = 'bearer' | 'x-api-key' | 'both';

export interface AnthropicMindConfig {
  readonly key: string | null;
  /** Without `/v1`; null is Anthropic's own. */
  readonly baseUrl: string | null;
  /** Default: `bearer` for Anthropic's own (what its SDK sends), `both` for any other server. */
  readonly keyHeader?: KeyHeader;
  /** Default: on for Claude models at Anthropic's own, off for any other server. */
  readonly thinking?: boolean;
  readonly models?: { readonly lead: string; readonly agent: string };
  readonly kind?: MindInfo['kind'];
  readonly retries?: number;
}

interface Attempt {
  readonly answer: MindAnswer;
  /** Set where the request as such was refused before anything was said. */
  readonly refused: { readonly status: number; readonly said: string } | null;
}

/** The SDK would otherwise look for credentials in the environment and on disk and send those. */
const NO_KEY = 'no-key';

function createClient(config: AnthropicMindConfig, baseURL: string, official: boolean): Anthropic {
  const header = config.keyHeader ?? (official ? 'bearer' : 'both');
  return new Anthropic({
    apiKey: config.key ?? NO_KEY,
    authToken: null,
    baseURL,
    defaultHeaders: {
      ...(config.key !== null && header !== 'bearer' ? { 'x-api-key': config.key } : {}),
      ...(config.key === null || header === 'x-api-key' ? { authorization: null } : {}),
    },
    maxRetries: config.retries ?? MIND_LIMITS.retries,
    timeout: MIND_LIMITS.requestTimeoutMs,
    // Its log lines may hold request bodies; what matters comes back as an error.
    logLevel: 'off',
    openTelemetry: false,
  });
}

export function createAnthropicMind(config: AnthropicMindConfig): Mind {
  const baseURL = config.baseUrl ?? OFFICIAL_API;
  const { host } = new URL(baseURL);
  const official = host === new URL(OFFICIAL_API).host;
  const client = createClient(config, baseURL, official);
  const defaults = config.models ?? DEFAULT_MODELS;
  /** What this server turned out not to understand; learned once, kept while the relay runs. */
  const learned = { plain: false, unthinking: new Set<string>() };

  async function attempt(request: MindRequest, shape: Shape, { onText, signal }: MindListener): Promise<Attempt> {
    const done: MindBlock[] = [];
    const seen: { message: Anthropic.Message | null; blockOpen: boolean; characters: number } = { message: null, blockOpen: false, characters: 0 };
    const stream = client.messages.stream(requestParams(request, shape), { signal });
    stream.on('streamEvent', (event, snapshot) => {
      seen.message = snapshot;
      if (event.type === 'content_block_start') seen.blockOpen = true;
      if (event.type === 'content_block_delta') seen.characters += charactersOf(event.delta);
      if (event.type !== 'content_block_stop') return;
      seen.blockOpen = false;
      const last = snapshot.content.at(-1);
      const block = last && blockOf(last, true);
      if (block) done.push(block);
    });
    stream.on('text', onText);
    try {
      const final = await stream.finalMessage();
      return { answer: { ok: true, blocks: done, stop: stopReasonOf(final), usage: usageOf(final, request.model) }, refused: null };
    } catch (error) {
      const { message } = seen;
      const last = seen.blockOpen ? message?.content.at(-1) : undefined;
      const broken = last && blockOf(last, false);
      if (broken) done.push(broken);
      const cause = signal.aborted ? new Anthropic.APIUserAbortError() : error;
      const problem = problemOf(cause, { model: request.model, host, key: config.key, began: message !== null });
      const refused = problem.kind === 'refused-request' && error instanceof Anthropic.APIError ? { status: error.status ?? 0, said: error.message } : null;
      return { answer: { ok: false, error: problem, blocks: done, usage: message && usageOf(message, request.model), characters: seen.characters }, refused };
    }
  }

  const exact = (request: MindRequest) => {
    let wellFormed = true;
    mapStrings([request.system, request.messages], (text) => {
      wellFormed &&= isWellFormed(text);
      return text;
    });
    return wellFormed;
  };

  /** The next easier way to write the same request, or null where there is none. */
  function easier(shape: Shape, refused: NonNullable<Attempt['refused']>, request: MindRequest): Shape | null {
    if (refused.status !== 400 && refused.status !== 422) return null;
    if (shape.thinking && /thinking/i.test(refused.said)) return { ...shape, thinking: false };
    if (!shape.wellFormed && !exact(request)) return { ...shape, wellFormed: true };
    if (!shape.plain && !official) return { ...shape, plain: true };
    return null;
  }

  return {
    models: (chosen) => ({ kind: config.kind ?? 'anthropic', leadModel: chosen.lead || defaults.lead, agentModel: chosen.agent || defaults.agent }),
    async answer(request, listener) {
      const thinks = (config.thinking ?? official) && thinksAdaptively(request.model) && !learned.unthinking.has(request.model);
      let shape: Shape = { plain: learned.plain, thinking: thinks, wellFormed: false };
      listener.onState?.({ kind: 'sent' });
      for (;;) {
        const { answer, refused } = await attempt(request, shape, listener);
        const next = refused && easier(shape, refused, request);
        if (!next) {
          if (answer.ok && shape.plain) learned.plain = true;
          if (answer.ok && thinks && !shape.thinking) learned.unthinking.add(request.model);
          return answer;
        }
        shape = next;
      }
    },
    close: () => Promise.resolve(),
  };
}
