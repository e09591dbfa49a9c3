/** A mind behind a model server, whichever protocol that speaks. */
import { randomUUID } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import type { MindInfo } from '../../../src/shared/protocol/events.ts';
import type { Protocol } from '../../../src/shared/protocol/models.ts';
import { realTimers, type Timers } from '../../../src/shared/domain/platform/timers.ts';
import { deeperThan } from '../../../src/shared/domain/deeper-than.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import { createKeyFilter } from '../../platform/key-filter.ts';
import type { Untold } from '../../../src/shared/domain/request-cost.ts';
import { createAssembly, type Assembly, type Told } from './assembly.ts';
import { UnreadableAnswer } from './event-reader.ts';
import { createLeaving } from './leave.ts';
import type { Mind, MindAnswer, MindErrorKind, MindListener, MindRequest } from '../../contracts/mind.ts';
import { CutAnswer, LostCall, mayHaveArrived, problemOf, refusalWords, retryAfterOf } from './problems.ts';
import { createMessagesWire, type KeyHeader } from './protocols/messages.ts';
import { createSdkWire } from './protocols/sdk.ts';
import type { SentRequest, Wire } from './protocols/wire.ts';
import { createRequestQueue, type Sending, type Turn } from './request-queue.ts';
import { DEFAULT_MODELS, MAX_REQUESTS, MIND_LIMITS, OFFICIAL_API, QUEUE_LIMITS, type QueueLimits } from './settings.ts';
import { createShapes, type Refused } from './shapes.ts';
import { filesIn } from './sight.ts';
import { createWebCalls } from './web.ts';
import { mostWritten, type Shape } from './wire.ts';
import type { WireEvent } from './wire-events.ts';

export interface ServedMindConfig {
  /** What the server speaks. Default: the Messages API. */
  readonly protocol?: Protocol;
  readonly key: string | null;
  /**
   * Without `/v1`, of the Messages API; of other protocols, what their path is put behind. Null is
   * Anthropic's own.
   */
  readonly baseUrl: string | null;
  /**
   * Of the Messages API. Default: `bearer` for Anthropic's own (what its SDK sends), `both` for any
   * other server.
   */
  readonly keyHeader?: KeyHeader;
  /** Default: on for Claude models at Anthropic's own, off for any other server. */
  readonly thinking?: boolean;
  /**
   * The same of searching for deferred tools. `every`: all its models do, whatever they are called.
   */
  readonly searching?: boolean | 'every';
  /** The same of the provider's own search and reading of the web. */
  readonly web?: boolean;
  readonly models?: { readonly lead: string; readonly agent: string };
  readonly kind?: MindInfo['kind'];
  /**
   * The server writes no further, and charges nothing more, once a request is stopped. Default:
   * Anthropic's own does; of any other it is not known.
   */
  readonly stopsWhenLeft?: boolean;
  /** Most requests at once. */
  readonly maxRequests?: number;
  readonly queue?: Partial<QueueLimits>;
  readonly timers?: Timers;
  /** Where key and address are set. Default: the relay's environment. */
  readonly setOn?: 'page';
  /** Default: the runtime's. */
  readonly fetch?: typeof globalThis.fetch;
}

interface Attempt {
  readonly answer: MindAnswer;
  /** Set where the request as such was refused before anything was said. */
  readonly refused: Refused | null;
  /**
   * What went wrong before a word was said; null where nothing did, something was, or it may not be
   * sent again.
   */
  readonly unsaid: unknown;
}

function createWire(config: ServedMindConfig, baseURL: string, official: boolean): Wire {
  const { protocol = 'messages', key } = config;
  const fetch = config.fetch ?? ((...args) => globalThis.fetch(...args));
  return protocol === 'messages'
    ? createMessagesWire({ key, baseURL, keyHeader: config.keyHeader ?? (official ? 'bearer' : 'both'), fetch })
    : createSdkWire({ protocol, key, baseURL, fetch });
}

/** What another way to write the request may help against. */
const MAY_BE_EASED: ReadonlySet<MindErrorKind> = new Set([
  'refused-request',
  'upstream-broken',
  'too-large',
  'no-such-address',
  'no-such-model',
]);

function refusalIn(error: unknown, kind: MindErrorKind): Attempt['refused'] {
  if (!(error instanceof Anthropic.APIError) || error instanceof Anthropic.APIConnectionError) return null;
  const whole = error.message.slice(0, MIND_LIMITS.refusalChars);
  return { status: error.status ?? 0, said: refusalWords(error), whole, kind };
}

/**
 * What a failure means for the line: only where nothing was said yet, and the server does not say
 * that it is final.
 */
function sendingOf(answer: MindAnswer, unsaid: unknown): Sending<MindAnswer> {
  const done: Sending<MindAnswer> = { kind: 'done', value: answer, answered: answer.ok };
  if (answer.ok || unsaid === null) return done;
  const headers = unsaid instanceof Anthropic.APIError ? unsaid.headers : undefined;
  if (headers?.get('x-should-retry') === 'false') return done;
  const { kind } = answer.error;
  if (kind === 'rate-limited' || kind === 'overloaded')
    return { kind: 'busy', value: answer, retryAfterMs: retryAfterOf(headers) };
  const broken =
    kind === 'unreachable' ||
    (unsaid instanceof Anthropic.APIError &&
      (unsaid.status === 408 || unsaid.status === 409 || (unsaid.status ?? 0) >= 500));
  return broken ? { kind: 'broken', value: answer } : done;
}

/**
 * A request that was broken off by us, however deep that is wrapped: its line reports what its
 * platform calls it.
 */
const isAbort = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error instanceof Anthropic.APIUserAbortError);

/**
 * `told`: its end came, so that what it does not say was left out. Of one that broke off, that goes
 * without saying.
 */
function untoldOf({ usage, size }: Assembly, told: boolean): { readonly untold?: Untold } {
  const input = !usage.inputTold();
  const { outputTokens } = usage.counts();
  // An answer in which something came was written, whatever number stands there.
  const isWritten = outputTokens > 0 || (size().characters === 0 && !input);
  const output = told && !(usage.outputTold() && isWritten);
  return input || output ? { untold: { input, output } } : {};
}

/**
 * What makes it dearer than its counts: the cache writes that stay for an hour, searches, and its
 * terms.
 */
function dearnessOf({ usage }: Assembly): Pick<MindAnswer, 'hourCacheWrites' | 'searches' | 'terms'> {
  const hourCacheWrites = usage.hourCacheWrites();
  const searches = usage.searches();
  const terms = usage.terms();
  return {
    ...(hourCacheWrites > 0 ? { hourCacheWrites } : {}),
    ...(searches > 0 ? { searches } : {}),
    ...(Object.keys(terms).length > 0 ? { terms } : {}),
  };
}

export function createServedMind(config: ServedMindConfig): Mind {
  const baseURL = config.baseUrl ?? OFFICIAL_API;
  const { host } = new URL(baseURL);
  const { protocol = 'messages' } = config;
  const official = protocol === 'messages' && host === new URL(OFFICIAL_API).host;
  const wire = createWire(config, baseURL, official);
  const queue = createRequestQueue({
    limits: { ...QUEUE_LIMITS, ...config.queue },
    max: config.maxRequests ?? MAX_REQUESTS,
    timers: config.timers ?? realTimers,
    now: () => performance.now(),
  });
  const stopsWhenLeft = config.stopsWhenLeft ?? official;
  const filter = createKeyFilter(config.key);
  const defaults = config.models ?? DEFAULT_MODELS;
  const shapes = createShapes({
    official,
    thinking: config.thinking ?? official,
    searching: config.searching ?? official,
    web: config.web ?? official,
  });

  /** A server that echoes what it was sent does not tell the household the key. */
  const clean = filter.value;

  async function attempt(
    request: MindRequest,
    shape: Shape,
    { onText, onLost, onTool, signal }: MindListener,
    turn: Turn,
  ): Promise<Attempt> {
    const answer = createAssembly({ words: filter.pieces, newId: () => `call_${randomUUID()}` });
    const webCall = createWebCalls(request.messages, onTool, clean);
    const tell = (told: readonly Told[]) => {
      for (const each of told)
        if (each.kind === 'words') onText(each.text);
        else webCall(each.block);
    };
    const begunAt = performance.now();
    /** When the line last brought something. */
    let heardAt = begunAt;
    const leaving = createLeaving(signal);
    const ending = await readAnswer(request, shape, leaving.signal, {
      take(event) {
        if (event.kind === 'other') return true;
        turn.begun();
        heardAt = performance.now();
        tell(answer.take(event));
        if (answer.state() === 'over') turn.ended();
        return answer.state() !== 'over';
      },
      patience: () => (answer.state() === 'told' && answer.isWhole() ? MIND_LIMITS.afterToldMs : Infinity),
    }).finally(leaving.done);
    const state = answer.state();
    const began = state !== 'waiting';
    const told = state === 'told' || state === 'over';
    // What comes after its end is no part of it, and what broke there has cost nothing.
    const failure = told && (ending === null || answer.isWhole()) ? null : (ending ?? new CutAnswer());
    const isCut = failure !== null;
    tell(answer.close(isCut));
    const blocks = await filter.longValue(answer.blocks(isCut));
    const usage = began ? clean({ model: request.model, ...answer.usage.counts() }) : null;
    const lostCall = !isCut && answer.lostCall() && !blocks.some(({ kind }) => kind === 'tool-use');
    if (!isCut && !lostCall && usage)
      return {
        answer: {
          ok: true,
          blocks,
          stop: answer.stop(),
          usage,
          ...untoldOf(answer, true),
          ...dearnessOf(answer),
          ...(shape.toolless ? { toolless: true } : {}),
          ...(shape.maxTokens < request.maxTokens ? { maxTokens: shape.maxTokens } : {}),
        },
        refused: null,
        unsaid: null,
      };
    const maxTokens = Math.min(request.maxTokens, shape.maxTokens);
    const hasKey = config.key !== null;
    const context = { model: request.model, host, filter, hasKey, setOn: config.setOn, protocol, maxTokens, began };
    const error = failure ?? new LostCall();
    const problem = clean(problemOf(signal.aborted ? new Anthropic.APIUserAbortError() : error, context));
    // Only where our leaving is what ended it: a line that died by itself did so unheard, whatever
    // came after it.
    const left = leaving.signal.aborted && error instanceof Anthropic.APIUserAbortError;
    const refused = began || !MAY_BE_EASED.has(problem.kind) ? null : refusalIn(error, problem.kind);
    const { characters, ...written } = answer.size();
    const failed: Extract<MindAnswer, { ok: false }> = {
      ok: false,
      error: problem,
      blocks,
      usage,
      ...(began ? { ...untoldOf(answer, told), ...dearnessOf(answer) } : {}),
      whole: told,
      outputMost:
        left && stopsWhenLeft
          ? mostWritten({ ...written, ms: performance.now() - (shape.thinking ? begunAt : heardAt) }, request.maxTokens)
          : null,
    };
    const unsaid = characters === 0 && blocks.length === 0 ? error : null;
    // What has begun and is sent again is two requests.
    const lost = began
      ? sendingOf(failed, unsaid).kind !== 'done'
      : failed.outputMost === null && mayHaveArrived(error);
    const final = lost && (await onLost?.()) === false;
    return { answer: lost ? { ...failed, usage: null } : failed, refused, unsaid: final ? null : unsaid };
  }

  /**
   * Sends the request, and hands on what comes of it until `take` has enough. Resolves with what
   * broke it off; null: nothing did. What `take` throws is an error of ours, and is thrown on.
   */
  async function readAnswer(
    request: MindRequest,
    shape: Shape,
    signal: AbortSignal,
    {
      take,
      patience,
    }: { readonly take: (event: Exclude<WireEvent, { kind: 'error' }>) => boolean; readonly patience: () => number },
  ): Promise<Error | null> {
    const broken = (error: unknown): Error => {
      if (isAbort(error)) return new Anthropic.APIUserAbortError();
      return error instanceof Error ? error : new Error(String(error));
    };
    let sent: SentRequest;
    try {
      sent = await wire.send(request, shape, signal);
    } catch (error) {
      return broken(error);
    }
    const events = sent.events(patience);
    try {
      for (;;) {
        const next = await events.next().catch(broken);
        if (next instanceof Error) return next;
        if (next.done) return signal.aborted ? new Anthropic.APIUserAbortError() : null;
        const { value: event } = next;
        if (event.kind === 'error')
          return deeperThan(event.body, LIMITS.jsonDepth)
            ? new UnreadableAnswer('an error lies too deep')
            : new Anthropic.APIError(undefined, event.body, undefined, sent.headers, undefined);
        if (!take(event)) return null;
      }
    } finally {
      await events.return();
    }
  }

  /** Once, in the easiest way that this server was found to need. */
  async function send(request: MindRequest, listener: MindListener, turn: Turn): Promise<Sending<MindAnswer>> {
    const { model } = request;
    let shape = shapes.first(model, request);
    for (;;) {
      const { answer, refused, unsaid } = await attempt(request, shape, listener, turn);
      const next = refused && shapes.easier(shape, refused, request);
      if (!next) {
        if (answer.ok) {
          shapes.answered(model, shape, request);
          const { all, out } = shape.unseen;
          const left = all ? [] : filesIn(request).filter(({ digest }) => out.has(digest));
          if (left.length > 0) listener.onLeftOut?.(left);
        }
        return sendingOf(answer, unsaid);
      }
      shape = next;
    }
  }

  return {
    web: shapes.web,
    searches: shapes.searches,
    models: (chosen) => ({
      kind: config.kind ?? 'anthropic',
      leadModel: chosen.lead || defaults.lead,
      agentModel: chosen.agent || defaults.agent,
    }),
    async answer(request, listener) {
      const { priority } = request;
      const { signal } = listener;
      const answer = await queue.run({ priority, signal, onState: listener.onState?.bind(listener) }, (turn) =>
        send(request, listener, turn),
      );
      return (
        answer ?? {
          ok: false,
          error: { kind: 'aborted', message: 'Stopped.' },
          blocks: [],
          usage: null,
          whole: false,
          outputMost: null,
        }
      );
    },
    close: () => Promise.resolve(),
  };
}

export type AnthropicMindConfig = Omit<ServedMindConfig, 'protocol'>;
/** A mind behind the Messages API. */
export const createAnthropicMind = (config: AnthropicMindConfig): Mind => createServedMind(config);
