/** A mind behind a model server, whichever protocol that speaks. */
import Anthropic from '@anthropic-ai/sdk';
import type { Protocol } from '../../../src/shared/protocol/models.ts';
import { modelNameFault } from '../../../src/shared/domain/model-names.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import type { MindInfo } from '../../../src/shared/protocol/events.ts';
import { realTimers, type Timers } from '../../../src/shared/domain/platform/timers.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import { THOUGHT } from '../../../src/shared/domain/talk.ts';
import { deeperThan } from '../../../src/shared/domain/deeper-than.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { Unreported } from '../../../src/shared/domain/request-cost.ts';
import { isUnsent } from '../../platform/unsent.ts';
import { createKeyFilter, type KeyFilter } from '../../platform/key-filter.ts';
import type { Mind } from './mind.ts';
import type { MindAnswer, MindError, MindErrorKind, MindListener, MindRequest } from './requests.ts';
import { mostWritten, type Shape, UnreadableAnswer, type WireEvent } from './wire.ts';
import { DEFAULT_MODELS, MAX_REQUESTS, MIND_LIMITS, OFFICIAL_API, QUEUE_LIMITS, type QueueLimits } from './settings.ts';
import { isTooLong, limitsIn } from './token-limits.ts';
import { createBatches } from './batches.ts';
import { type Assembly, createAssembly, type AnswerUpdate } from './assembly.ts';
import { createLeaving } from './leave.ts';
import {
  createMessagesClient,
  createMessagesWire,
  createSdkWire,
  type KeyHeader,
  type SentRequest,
  type Wire,
} from './protocols/sdk.ts';
import { createRequestQueue, type Sending, type Turn } from './request-queue.ts';
import { createShapes, type Refused } from './shapes.ts';
import { filesIn } from './sight.ts';
import { createWebCalls } from './web.ts';

// Failures of a model server, as values with a sentence for people.

/** The stream ended before the answer did. */
class CutAnswer extends Error {
  override readonly name = 'CutAnswer';
}
/** The model called a tool, but the call itself did not arrive. */
class LostCall extends Error {
  override readonly name = 'LostCall';
}
/** The answer ended without content, for a reason that only the server knows. */
class OddEnd extends Error {
  override readonly name = 'OddEnd';
}

interface ProblemContext {
  readonly model: string;
  /** The server's address, without credentials. */
  readonly host: string;
  /** Removes the key, which must not appear in any sentence, whatever the server echoes. */
  readonly filter: KeyFilter;
  readonly hasKey: boolean;
  /**
   * Where the key and address are set, and can be changed. Left out: in the relay's environment.
   */
  readonly setOn?: 'page' | undefined;
  /** The server's protocol, as far as it is known. */
  readonly protocol: Protocol;
  /** Most tokens of the requested answer. */
  readonly maxTokens: number;
  /** Whether the answer had begun. */
  readonly began: boolean;
}

/** Statuses that may mean that a request is too long. A rate limit mentions tokens too. */
const mayBeTooLong = (status: number | undefined) =>
  status === undefined || status === 400 || status === 413 || status === 422 || status >= 500;

/** Tokens sent and the model's limit, where the error names them. */
function tokensIn(said: string, sent: number): MindError['tokens'] {
  const limits = limitsIn(said, sent);
  if (limits === null || limits.window === null || limits.window <= 0) return undefined;
  const { window, input } = limits;
  // The input alone would fit, but not together with its answer.
  return input === null || input <= 0 ? undefined : { asked: input, most: window };
}
const isCredit = (said: string, type: string | null) =>
  type === 'billing_error' || /credit balance|insufficient (credit|funds|quota)|billing/i.test(said);

/** Gemini refuses a key with a 400. */
const isMissingKey = (error: InstanceType<typeof Anthropic.APIError>, said: string) =>
  error.status === 400 &&
  /api[ _]key not valid|invalid api[ _]key|(?:missing|invalid)[^.]{0,20}authorization/i.test(said);

/**
 * An error about a missing model names it, or contains the word. An error about a missing path does
 * not.
 */
const namesModel = (said: string, model: string) => said.includes(model) || /\bmodel\b/i.test(said);

/** The server's own message, shortened and without the key. */
function upstreamWords(error: InstanceType<typeof Anthropic.APIError>, filter: KeyFilter): string {
  const text = ownWords(error);
  const shown = filter.part(text, 0, MIND_LIMITS.upstreamDetail);
  return text.length > MIND_LIMITS.upstreamDetail ? `${shown}…` : shown;
}

/** The SDK passes on any value of this field. */
function ownWords({ apiMessage, message }: InstanceType<typeof Anthropic.APIError>): string {
  const given: unknown = apiMessage;
  return typeof given === 'string' ? given : message;
}

const shortened = (text: string) => text.slice(0, MIND_LIMITS.upstreamDetail);

/** The part of the server's message that is searched for its meaning. */
const refusalWords = (error: InstanceType<typeof Anthropic.APIError>): string =>
  ownWords(error).slice(0, MIND_LIMITS.refusalChars);

/** The name of each protocol's API, and its path after the server's address. */
const SPOKEN: Readonly<Record<Protocol, { readonly name: string; readonly path: string }>> = {
  messages: { name: 'Messages API', path: '/v1/messages' },
  chat: { name: 'Chat Completions API', path: '/chat/completions' },
  responses: { name: 'Responses API', path: '/responses' },
  google: { name: 'Gemini API', path: '/models/…' },
};
/** Where the person sets another key. */
const keyAdvice = ({ setOn }: ProblemContext) =>
  setOn === 'page'
    ? sentence`Change the key under “Connect a model”.`
    : sentence`Set another ANTHROPIC_API_KEY where the relay runs, and restart the relay.`;
export const missingKey = (host: string, advice: string): string => sentence`${host} needs a key. ${advice}`;
export const wrongKey = (host: string, advice: string): string => sentence`${host} did not accept the key. ${advice}`;
export const weakKey = (host: string, advice: string, said: string): string =>
  sentence`${host} knows the key, but does not allow this. ${advice} It said: ${said}`;

const addressIn = ({ setOn }: ProblemContext) => (setOn === 'page' ? sentence`the address` : 'ANTHROPIC_BASE_URL');

function statusProblem(error: InstanceType<typeof Anthropic.APIError>, context: ProblemContext): MindError {
  const { model, host, protocol } = context;
  const upstreamText = upstreamWords(error, context.filter);
  const { type } = error;
  // An error event inside a stream has no status, only its type.
  const is = (status: number, name: string) => error.status === status || type === name;
  if (error.status === 402 || isCredit(upstreamText, type))
    return {
      kind: 'out-of-credit',
      message: sentence`${host} says that the account is out of credit. Add credit there, then try again.`,
    };
  if (is(401, 'authentication_error') && !context.hasKey)
    return { kind: 'bad-key', message: missingKey(host, keyAdvice(context)) };
  if (is(401, 'authentication_error') || isMissingKey(error, upstreamText))
    return { kind: 'bad-key', message: wrongKey(host, keyAdvice(context)) };
  if (is(403, 'permission_error'))
    return { kind: 'bad-key', message: weakKey(host, keyAdvice(context), upstreamText), said: upstreamText };
  if (is(404, 'not_found_error') && !namesModel(upstreamText, model))
    return {
      kind: 'no-such-address',
      message: sentence`${host} has no ${SPOKEN[protocol].name} under this address (404). Check ${addressIn(context)}: it is the part before ${SPOKEN[protocol].path}. ${host} said: ${upstreamText}`,
    };
  if (is(404, 'not_found_error'))
    return {
      kind: 'no-such-model',
      message: sentence`${host} does not know the model “${model}”. Choose another. It said: ${upstreamText}`,
      said: upstreamText,
    };
  if (is(429, 'rate_limit_error')) return busyProblem('rate-limited', host, error.headers, upstreamText);
  if (is(529, 'overloaded_error') || error.status === 503)
    return busyProblem('overloaded', host, error.headers, upstreamText);
  // Searches the whole body, up to a limit: some servers put counts into fields beside the message.
  const whole = error.message.slice(0, MIND_LIMITS.refusalChars);
  if (is(413, 'request_too_large') || (mayBeTooLong(error.status) && isTooLong(whole))) {
    const tokens = tokensIn(whole, context.maxTokens);
    const message = sentence`This is longer than the model can read, even without the earlier conversation. A shorter message helps, less that is remembered of the last conversation (Settings, Advanced), or a model that reads more.`;
    return {
      kind: 'too-large',
      message,
      ...(tokens ? { tokens } : {}),
    };
  }
  if (error.status !== undefined && error.status >= 400 && error.status < 500)
    return {
      kind: 'refused-request',
      message: sentence`${host} refused the request (${error.status}): ${upstreamText}`,
    };
  if (context.began) return { kind: 'stream-cut', message: sentence`${host} broke off in mid-answer: ${upstreamText}` };
  return {
    kind: 'upstream-broken',
    message: sentence`${host} had an internal error${error.status ? ` (${error.status})` : ''}: ${upstreamText}`,
  };
}

/**
 * ms to wait before a retry. Servers state it in seconds, in ms, or as a date. Null: not stated.
 */
function retryAfterOf(headers: Headers | undefined): number | null {
  const [ms, seconds] = [headers?.get('retry-after-ms') ?? '', headers?.get('retry-after') ?? ''];
  if (/^\d+(\.\d+)?$/.test(ms)) return Number(ms);
  if (/^\d+(\.\d+)?$/.test(seconds)) return Number(seconds) * 1000;
  const date = Date.parse(seconds);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** When to try again, for people. */
function laterWords(after: number | null): string {
  const seconds = after === null || after < 1000 ? 60 : Math.ceil(after / 1000);
  const minutes = Math.ceil(seconds / 60);
  const time = seconds < 120 ? `${seconds} s` : minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
  return sentence`Try again in ${time}.`;
}

/**
 * The server refuses for now. `lasting`: for longer than the queue waits. The cause is then a daily
 * or account limit, and only the provider's message says which.
 */
function busyProblem(
  kind: 'rate-limited' | 'overloaded',
  host: string,
  headers: Headers | undefined,
  said: string,
): MindError {
  const after = retryAfterOf(headers);
  const later = laterWords(after);
  if (after !== null && after > QUEUE_LIMITS.longestRetryAfterMs)
    return { kind, message: sentence`${host} is busy. ${later} It said: ${said}`, said, lasting: true };
  return { kind, message: sentence`${host} is busy. ${later}` };
}

function problemOf(error: unknown, context: ProblemContext): MindError {
  if (error instanceof Anthropic.APIUserAbortError) return { kind: 'aborted', message: sentence`Stopped.` };
  if (error instanceof Anthropic.APIConnectionError)
    return context.began
      ? { kind: 'stream-cut', message: sentence`The answer from ${context.host} broke off. Try again.` }
      : {
          kind: 'unreachable',
          message: sentence`${context.host} cannot be reached. Is it running, and is this machine online?`,
        };
  if (error instanceof Anthropic.APIError) return statusProblem(error, context);
  if (error instanceof LostCall)
    return {
      kind: 'upstream-broken',
      message: sentence`The model “${context.model}” wrote something that cannot be read, often a tool call that is not JSON. Try again, or choose another model.`,
    };
  if (error instanceof OddEnd)
    return {
      kind: 'upstream-broken',
      message: sentence`${context.host} ended the answer without text. Its reason: ${error.message}. Try again, or choose another model.`,
    };
  const isUnreadable = error instanceof UnreadableAnswer;
  if (!context.began && (isUnreadable || error instanceof CutAnswer))
    return {
      kind: 'upstream-broken',
      message: sentence`${context.host} answered with something that is not the ${SPOKEN[context.protocol].name}. Check ${addressIn(context)}.`,
    };
  if (isUnreadable)
    return {
      kind: 'stream-cut',
      message: sentence`The answer from ${context.host} broke off. Try again.`,
    };
  // All other errors are broken connections, such as a socket that was closed in mid-stream.
  if (error instanceof Error)
    return { kind: 'stream-cut', message: sentence`The answer from ${context.host} broke off. Try again.` };
  throw error;
}

/**
 * Whether the server may have worked on a request that ended like this before its answer began. A
 * refused request costs nothing.
 */
function mayHaveArrived(error: unknown): boolean {
  if (error instanceof Anthropic.APIUserAbortError) return true;
  if (error instanceof Anthropic.APIConnectionError) return !isUnsent(error);
  return !(error instanceof Anthropic.APIError);
}

interface ServedMindConfig {
  /** The server's protocol. Default: the Messages API. */
  readonly protocol?: Protocol;
  readonly key: string | null;
  /**
   * For the Messages API: without `/v1`. For other protocols: their path is appended to it. Null is
   * Anthropic's own.
   */
  readonly baseUrl: string | null;
  /**
   * For the Messages API. Default: `bearer` for Anthropic's own (what its SDK sends), `both` for
   * any other server.
   */
  readonly keyHeader?: KeyHeader;
  /** Default: on for Claude models at Anthropic's own server, off for any other. */
  readonly thinking?: boolean;
  /**
   * Search for deferred tools by the model. Same default. `every`: all models of the server do,
   * whatever they are called.
   */
  readonly searching?: boolean | 'every';
  /** The provider's own web search and page reading. Same default. */
  readonly web?: boolean;
  readonly models?: { readonly lead: string; readonly agent: string };
  readonly kind?: MindInfo['kind'];
  /**
   * The server stops writing and charging once a request is stopped. Default: true for Anthropic's
   * own server. For any other it is unknown.
   */
  readonly stopsWhenLeft?: boolean;
  /** Most concurrent requests. */
  readonly maxRequests?: number;
  readonly queue?: Partial<QueueLimits>;
  readonly timers?: Timers;
  /** Where the key and address are set. Default: the relay's environment. */
  readonly setOn?: 'page';
  /** Default: the runtime's. */
  readonly fetch?: typeof globalThis.fetch;
}

interface Attempt {
  readonly answer: MindAnswer;
  /** Set where the request itself was refused before any text. */
  readonly refused: Refused | null;
  /**
   * The failure before any text. Null: there was none, text had arrived, or a retry is not allowed.
   */
  readonly unsaid: unknown;
  /** The request should be sent once more: nothing was said, and a tool call was lost. */
  readonly repeats?: boolean;
}

const messagesConfigOf = ({ key, keyHeader, fetch }: ServedMindConfig, baseURL: string, official: boolean) => ({
  ...{ key, baseURL, keyHeader: keyHeader ?? (official ? 'bearer' : 'both') },
  fetch: fetch ?? ((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args)),
});

function createWire(config: ServedMindConfig, baseURL: string, official: boolean): Wire {
  const { protocol = 'messages' } = config;
  const messages = messagesConfigOf(config, baseURL, official);
  return protocol === 'messages' ? createMessagesWire(messages) : createSdkWire({ ...messages, protocol });
}

/** Failures that a simpler form of the request may avoid. */
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
 * What a failure means for the queue. It matters only where no text has arrived, and the server
 * does not call the failure final.
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
 * Whether we aborted the request, at any level of wrapping. The platform reports an abort under its
 * own name.
 */
const isAbort = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error instanceof Anthropic.APIUserAbortError);

/**
 * `told`: the end arrived, so missing counts were left out by the server. For an answer that broke
 * off, missing counts are normal.
 */
function untoldOf({ usage, size }: Assembly, told: boolean): { readonly untold?: Unreported } {
  const input = !usage.inputReported();
  const { outputTokens } = usage.counts();
  // An answer with content has output tokens, whatever count was reported.
  const isWritten = outputTokens > 0 || (size().characters === 0 && !input);
  const output = told && !(usage.outputReported() && isWritten);
  return input || output ? { untold: { input, output } } : {};
}

/**
 * What makes an answer cost more than its token counts: one-hour cache writes, searches, and its
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

const neverSent = (error: MindError): MindAnswer => ({
  ok: false,
  error,
  blocks: [],
  usage: null,
  whole: false,
  outputMost: null,
});

const noSuchName = (model: string): MindError => ({
  kind: 'no-such-model',
  message: sentence`“${model}” cannot be the name of a model. Choose another model in the settings.`,
});

/**
 * Sends the request and passes on its events until `take` returns false. Resolves with the
 * failure, or null. An error from `take` is a fault of ours and is thrown.
 */
async function readAnswer(
  wire: Wire,
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

  /** Hides the key from the household where a server echoes the request. */
  const clean = filter.value;

  const { setOn } = config;
  const batches = official
    ? createBatches({
        messages: createMessagesClient(messagesConfigOf(config, baseURL, official)),
        shapeOf: (request) => shapes.first(request.model, request),
        filter,
        problemOf: (error, model) =>
          problemOf(error, {
            model,
            host,
            filter,
            hasKey: config.key !== null,
            setOn,
            protocol,
            maxTokens: 0,
            began: false,
          }),
      })
    : null;

  async function attempt(
    request: MindRequest,
    shape: Shape,
    { onText, onLost, onTool, signal }: MindListener,
    turn: Turn,
    mayRepeat: boolean,
  ): Promise<Attempt> {
    const answer = createAssembly({ words: filter.pieces, newId: () => `call_${newId()}` });
    const webCall = createWebCalls(request.messages, onTool, clean);
    const tell = (told: readonly AnswerUpdate[]) => {
      for (const each of told)
        if (each.kind === 'words') onText(each.text);
        else if (each.kind === 'thought')
          onTool?.({ toolUseId: `thought_${newId()}`, name: THOUGHT, input: {} })(
            clean(cutMiddle(each.text, MIND_LIMITS.thoughtCharacters)),
            false,
          );
        else webCall(each.block);
    };
    const begunAt = performance.now();
    /** When data last arrived. */
    let heardAt = begunAt;
    const leaving = createLeaving(signal);
    const ending = await readAnswer(wire, request, shape, leaving.signal, {
      take(event) {
        if (event.kind === 'other') return true;
        turn.begun();
        heardAt = performance.now();
        tell(answer.take(event));
        if (answer.state() === 'over') turn.ended();
        return answer.state() !== 'over';
      },
      patience: () => (answer.state() === 'complete' && answer.isWhole() ? MIND_LIMITS.afterCompleteMs : Infinity),
    }).finally(leaving.done);
    const state = answer.state();
    const began = state !== 'waiting';
    const isComplete = state === 'complete' || state === 'over';
    // Events after the end do not belong to the answer. A failure after the end has cost nothing.
    const failure = isComplete && (ending === null || answer.isWhole()) ? null : (ending ?? new CutAnswer());
    const isCut = failure !== null;
    tell(answer.close(isCut));
    const blocks = await filter.longValue(answer.blocks(isCut));
    const usage = began ? clean({ model: request.model, ...answer.usage.counts() }) : null;
    const lostCall = !isCut && answer.lostCall() && !blocks.some(({ kind }) => kind === 'tool-use');
    const oddEnd = isCut ? null : answer.oddEnd();
    if (!isCut && !lostCall && oddEnd === null && usage)
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
    const error = failure ?? (oddEnd === null || lostCall ? new LostCall() : new OddEnd(shortened(oddEnd)));
    const problem = clean(problemOf(signal.aborted ? new Anthropic.APIUserAbortError() : error, context));
    // Only if our stop ended it. If the connection died by itself, the server did not notice,
    // whatever followed.
    const wasLeft = leaving.signal.aborted && error instanceof Anthropic.APIUserAbortError;
    const refused = began || !MAY_BE_EASED.has(problem.kind) ? null : refusalIn(error, problem.kind);
    const { characters, ...written } = answer.size();
    const failed: Extract<MindAnswer, { ok: false }> = {
      ok: false,
      error: problem,
      blocks,
      usage,
      ...(began ? { ...untoldOf(answer, isComplete), ...dearnessOf(answer) } : {}),
      whole: isComplete,
      outputMost:
        wasLeft && stopsWhenLeft
          ? mostWritten({ ...written, ms: performance.now() - (shape.thinking ? begunAt : heardAt) }, request.maxTokens)
          : null,
    };
    const unsaid = characters === 0 && blocks.length === 0 ? error : null;
    // An answer that began and is requested again counts as two requests.
    const repeats = mayRepeat && unsaid instanceof LostCall && !signal.aborted;
    const lost = began
      ? repeats || sendingOf(failed, unsaid).kind !== 'done'
      : failed.outputMost === null && mayHaveArrived(error);
    const final = lost && (await onLost?.()) === false;
    return {
      answer: lost ? { ...failed, usage: null } : failed,
      refused,
      unsaid: final ? null : unsaid,
      repeats: repeats && !final,
    };
  }

  /** One attempt, in the simplest form that this server is known to need. */
  async function send(request: MindRequest, listener: MindListener, turn: Turn): Promise<Sending<MindAnswer>> {
    const { model } = request;
    let shape = shapes.first(model, request);
    let mayRepeat = true;
    for (;;) {
      const { answer, refused, unsaid, repeats } = await attempt(request, shape, listener, turn, mayRepeat);
      if (repeats) {
        mayRepeat = false;
        continue;
      }
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
    batches: () => batches,
    models: (chosen) => ({
      kind: config.kind ?? 'anthropic',
      leadModel: chosen.lead || defaults.lead,
      agentModel: chosen.agent || defaults.agent,
    }),
    async answer(request, listener) {
      const { priority, model } = request;
      const { signal } = listener;
      // The demo’s own name is not a name that another server’s model may have.
      if (config.kind !== 'rehearsal' && modelNameFault(model) !== null) return neverSent(noSuchName(model));
      const answer = await queue.run({ priority, signal, onState: listener.onState?.bind(listener) }, (turn) =>
        send(request, listener, turn),
      );
      return answer ?? neverSent({ kind: 'aborted', message: 'Stopped.' });
    },
    close: () => Promise.resolve(),
  };
}

export type AnthropicMindConfig = Omit<ServedMindConfig, 'protocol'>;
/** A mind behind the Messages API. */
export const createAnthropicMind = (config: AnthropicMindConfig): Mind => createServedMind(config);
