/** What went wrong with an upstream, as a value with a sentence for people. */
import Anthropic from '@anthropic-ai/sdk';
import type { Protocol } from '../../../src/shared/protocol/models.ts';
import { isUnsent } from '../../platform/unsent.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import { UnreadableAnswer } from './event-reader.ts';
import type { MindError } from '../../contracts/mind.ts';
import { MIND_LIMITS, QUEUE_LIMITS } from './settings.ts';
import { isTooLong, limitsIn } from './token-limits.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';

/** The stream ended before the answer did. */
export class CutAnswer extends Error {
  override readonly name = 'CutAnswer';
}
/** The model called a tool, and the part of the answer that says which did not come. */
export class LostCall extends Error {
  override readonly name = 'LostCall';
}

export interface ProblemContext {
  readonly model: string;
  /** Where the requests go, without credentials. */
  readonly host: string;
  /** Takes out the key, which must not be in any sentence, whatever the upstream echoes. */
  readonly filter: KeyFilter;
  readonly hasKey: boolean;
  /** Where key and address are set, and so changed. Left out: in the relay's environment. */
  readonly setOn?: 'page' | undefined;
  /** What the server speaks, as far as is known. */
  readonly protocol: Protocol;
  /** Most tokens of the answer that was asked for. */
  readonly maxTokens: number;
  /** Whether the answer had begun. */
  readonly began: boolean;
}

/** What of an upstream's answer may mean that: a limit on requests speaks of tokens too. */
const mayBeTooLong = (status: number | undefined) =>
  status === undefined || status === 400 || status === 413 || status === 422 || status >= 500;

/** How many tokens were sent and how many fit, where the sentence says so. */
function tokensIn(said: string, sent: number): MindError['tokens'] {
  const limits = limitsIn(said, sent);
  if (limits === null || limits.window === null || limits.window <= 0) return undefined;
  const { window, input } = limits;
  // What alone would fit was too much together with its answer.
  return input === null || input <= 0 ? undefined : { asked: input, most: window };
}
const isCredit = (said: string, type: string | null) =>
  type === 'billing_error' || /credit balance|insufficient (credit|funds|quota)|billing/i.test(said);

/** Gemini refuses a key with a 400. */
const isMissingKey = (error: InstanceType<typeof Anthropic.APIError>, said: string) =>
  error.status === 400 &&
  /api[ _]key not valid|invalid api[ _]key|(?:missing|invalid)[^.]{0,20}authorization/i.test(said);

/** A model that is not there is named, or called one; an address that is not there is not. */
const namesModel = (said: string, model: string) => said.includes(model) || /\bmodel\b/i.test(said);

/** The upstream's own words, shortened, and without the key. */
function upstreamWords(error: InstanceType<typeof Anthropic.APIError>, filter: KeyFilter): string {
  const text = ownWords(error);
  const shown = filter.part(text, 0, MIND_LIMITS.upstreamDetail);
  return text.length > MIND_LIMITS.upstreamDetail ? `${shown}…` : shown;
}

/** The SDK passes on whatever stands in the field. */
function ownWords({ apiMessage, message }: InstanceType<typeof Anthropic.APIError>): string {
  const given: unknown = apiMessage;
  return typeof given === 'string' ? given : message;
}

/** The upstream's own words, as far as anybody looks for their meaning. */
export const refusalWords = (error: InstanceType<typeof Anthropic.APIError>): string =>
  ownWords(error).slice(0, MIND_LIMITS.refusalChars);

/** What the server is asked for, and what stands behind its address. */
const SPOKEN: Readonly<Record<Protocol, { readonly name: string; readonly path: string }>> = {
  messages: { name: 'Messages API', path: '/v1/messages' },
  chat: { name: 'Chat Completions API', path: '/chat/completions' },
  responses: { name: 'Responses API', path: '/responses' },
  google: { name: 'Gemini API', path: '/models/…' },
};
const addressIn = ({ setOn }: ProblemContext) => (setOn === 'page' ? sentence`the address` : 'ANTHROPIC_BASE_URL');

function statusProblem(error: InstanceType<typeof Anthropic.APIError>, context: ProblemContext): MindError {
  const { model, host, protocol } = context;
  const said = upstreamWords(error, context.filter);
  const { type } = error;
  // An error event inside a stream has no status, only its type.
  const is = (status: number, name: string) => error.status === status || type === name;
  if (error.status === 402 || isCredit(said, type))
    return {
      kind: 'out-of-credit',
      message: sentence`${host} says that the account is out of credit. Add credit there, then try again.`,
    };
  if (is(401, 'authentication_error') && !context.hasKey)
    return {
      kind: 'bad-key',
      message:
        context.setOn === 'page'
          ? sentence`${host} needs a key. Set one under “Connect a model”.`
          : sentence`${host} needs a key. Set ANTHROPIC_API_KEY where the relay runs, and start it again.`,
    };
  if (is(401, 'authentication_error') || isMissingKey(error, said))
    return {
      kind: 'bad-key',
      message:
        context.setOn === 'page'
          ? sentence`${host} did not accept the key. Change the key under “Connect a model”.`
          : sentence`${host} did not accept the API key. Check ANTHROPIC_API_KEY where the relay runs, and start it again.`,
    };
  if (is(403, 'permission_error'))
    return {
      kind: 'bad-key',
      message:
        context.setOn === 'page'
          ? sentence`${host} knows the key, but does not let it do this. Change the key under “Connect a model”. ${host} said: ${said}`
          : sentence`${host} knows the API key, but does not let it do this. Set another as ANTHROPIC_API_KEY where the relay runs, and start it again. ${host} said: ${said}`,
      said,
    };
  if (is(404, 'not_found_error') && !namesModel(said, model))
    return {
      kind: 'no-such-address',
      message: sentence`${host} has no ${SPOKEN[protocol].name} under this address (404). Check ${addressIn(context)}: it is what stands before ${SPOKEN[protocol].path}. ${host} said: ${said}`,
    };
  if (is(404, 'not_found_error'))
    return {
      kind: 'no-such-model',
      message: sentence`${host} does not know the model “${model}”. Choose another model in the settings. It said: ${said}`,
      said,
    };
  if (is(429, 'rate_limit_error')) return busyProblem('rate-limited', host, error.headers, said);
  if (is(529, 'overloaded_error') || error.status === 503) return busyProblem('overloaded', host, error.headers, said);
  // The whole of it, as far as it is read: some servers count in fields beside their own words.
  const whole = error.message.slice(0, MIND_LIMITS.refusalChars);
  if (is(413, 'request_too_large') || (mayBeTooLong(error.status) && isTooLong(whole))) {
    const tokens = tokensIn(whole, context.maxTokens);
    const message = sentence`This is longer than the model can read, even without the earlier conversation. A shorter message helps, less that is remembered of the last conversation (Settings, Waking), or a model that reads more.`;
    return {
      kind: 'too-large',
      message,
      ...(tokens ? { tokens } : {}),
    };
  }
  if (error.status !== undefined && error.status >= 400 && error.status < 500)
    return { kind: 'refused-request', message: sentence`${host} refused the request (${error.status}): ${said}` };
  if (context.began) return { kind: 'stream-cut', message: sentence`${host} broke off in mid-answer: ${said}` };
  return {
    kind: 'upstream-broken',
    message: sentence`${host} had an error of its own${error.status ? ` (${error.status})` : ''}: ${said}`,
  };
}

/**
 * ms after which the server may be asked again, as it says in seconds, in ms, or by a date; null:
 * it does not say.
 */
export function retryAfterOf(headers: Headers | undefined): number | null {
  const [ms, seconds] = [headers?.get('retry-after-ms') ?? '', headers?.get('retry-after') ?? ''];
  if (/^\d+(\.\d+)?$/.test(ms)) return Number(ms);
  if (/^\d+(\.\d+)?$/.test(seconds)) return Number(seconds) * 1000;
  const date = Date.parse(seconds);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** When to try again, for people. */
function laterWords(after: number | null): string {
  if (after === null || after < 1000) return sentence`Try again in a minute.`;
  const minutes = Math.ceil(after / 60_000);
  if (after < 120_000) return sentence`Try again in ${Math.ceil(after / 1000)} seconds.`;
  return minutes < 120
    ? sentence`Try again in ${minutes} minutes.`
    : sentence`Try again in ${Math.ceil(minutes / 60)} hours.`;
}

/**
 * Refused for now. `lasting`: longer than is waited for. Then it is no moment's crowd but a limit
 * of a day or an account, and only the provider's own words say which.
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
    return { kind, message: sentence`${host} asks for a pause. ${later} It said: ${said}`, said, lasting: true };
  return {
    kind,
    message:
      kind === 'overloaded'
        ? sentence`${host} is overloaded at the moment. ${later}`
        : sentence`${host} asks for a pause: too many requests at once. ${later}`,
  };
}

export function problemOf(error: unknown, context: ProblemContext): MindError {
  if (error instanceof Anthropic.APIUserAbortError) return { kind: 'aborted', message: sentence`Stopped.` };
  if (error instanceof Anthropic.APIConnectionError)
    return context.began
      ? { kind: 'stream-cut', message: sentence`The connection to ${context.host} broke in mid-answer. Try again.` }
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
  const isUnreadable = error instanceof UnreadableAnswer;
  if (!context.began && (isUnreadable || error instanceof CutAnswer))
    return {
      kind: 'upstream-broken',
      message: sentence`${context.host} answered with something that is not the ${SPOKEN[context.protocol].name}. Check ${addressIn(context)}.`,
    };
  if (isUnreadable)
    return {
      kind: 'stream-cut',
      message: sentence`${context.host} sent something in mid-answer that cannot be read. The answer ends there. Try again.`,
    };
  // What is left are broken lines: a socket that was closed in mid-stream.
  if (error instanceof Error)
    return { kind: 'stream-cut', message: sentence`The answer from ${context.host} broke off. Try again.` };
  throw error;
}

/**
 * May the server have worked at a request that ended like this before its answer began? What it
 * refuses costs nothing.
 */
export function mayHaveArrived(error: unknown): boolean {
  if (error instanceof Anthropic.APIUserAbortError) return true;
  if (error instanceof Anthropic.APIConnectionError) return !isUnsent(error);
  return !(error instanceof Anthropic.APIError);
}
