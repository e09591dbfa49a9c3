/** Asking a server which models it has, and one of them for a word. */
import { z } from 'zod';
import { realTimers } from '../../src/domain/platform/timers.ts';
import { MODEL_LIMITS, type ConnectionState, type ListedModel } from '../../src/protocol/models.ts';
import { createBoundedFetch } from '../bounded-fetch.ts';
import type { Mind, MindError, MindErrorKind } from '../minds/index.ts';
import { CONNECT_LIMITS } from './settings.ts';
import { sentence } from '../../src/domain/sentence.ts';

/** As Anthropic and every server that speaks OpenAI's list say it. */
const listSchema = z.object({ data: z.array(z.unknown()) });
const modelSchema = z.object({
  id: z.string().min(1).max(MODEL_LIMITS.model),
  display_name: z.string().optional().catch(undefined),
});

/** What does not fit is left out. */
function listedIn(data: readonly unknown[]): ListedModel[] {
  return data.slice(0, MODEL_LIMITS.listed).flatMap((each): ListedModel[] => {
    const parsed = modelSchema.safeParse(each);
    if (!parsed.success) return [];
    const { id, display_name: name } = parsed.data;
    return [{ id, name: (name ?? id).slice(0, MODEL_LIMITS.model) }];
  });
}

const LIST_BOUNDS = {
  messageBytes: CONNECT_LIMITS.listBytes,
  json: { depth: CONNECT_LIMITS.listDepth, values: CONNECT_LIMITS.listValues },
};

export interface ListedServer {
  /** Without `/v1`. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

/** The models of a server; null: it has no such list, or says nothing in time. */
export async function listModels(
  { baseUrl, headers, fetch }: ListedServer,
  ms: number = CONNECT_LIMITS.listMs,
): Promise<ListedModel[] | null> {
  try {
    const response = await createBoundedFetch(LIST_BOUNDS, fetch)(
      `${baseUrl.replace(/\/+$/, '')}/v1/models?limit=${MODEL_LIMITS.listed}`,
      {
        headers: { ...headers, accept: 'application/json' },
        redirect: 'manual',
        signal: AbortSignal.timeout(ms),
      },
    );
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    const parsed = listSchema.safeParse(await response.json());
    return parsed.success ? listedIn(parsed.data.data) : null;
  } catch {
    // Whatever is wrong with it, there is no list; the request for a word says what is wrong.
    return null;
  }
}

/** How a failure of the model's server is told apart on the page. */
export function whyOf(kind: MindErrorKind): Extract<ConnectionState, { kind: 'fails' }>['why'] {
  switch (kind) {
    case 'bad-key':
      return 'key';
    case 'out-of-credit':
      return 'credit';
    case 'unreachable':
    case 'no-such-address':
      return 'unreachable';
    case 'no-such-model':
      return 'no-model';
    case 'rate-limited':
    case 'overloaded':
      return 'busy';
    case 'aborted':
    case 'stream-cut':
    case 'too-large':
    case 'refused-request':
    case 'upstream-broken':
      return 'other';
    default:
      return kind satisfies never;
  }
}

export interface TrialClock {
  /** ms since the epoch */
  readonly now: () => number;
  /** ms, only ever forward */
  readonly elapsed: () => number;
}

/** Why it does not answer, to somebody who has key, address and model before them; `host` is null where all that is set already. */
function reasonOf({ kind, message, said }: MindError, model: string, host: string | null): string {
  if (host === null) return message;
  if (kind === 'bad-key')
    return said === undefined
      ? sentence`${host} did not accept this key. Copy it once more, whole, or make a new one there.`
      : sentence`${host} knows this key, but does not let it use the model “${model}”. Allow it there, or make another key, and paste it here. ${host} said: ${said}`;
  if (kind === 'no-such-model')
    return sentence`${host} does not know the model “${model}”. Type the name of one that it has. ${host} said: ${said ?? '…'}`;
  return message;
}

/** One short request: the fewest words that show that it answers. `host`: it is only being connected there. */
export async function tryModel(
  mind: Mind,
  model: string,
  host: string | null,
  { now, elapsed }: TrialClock,
): Promise<ConnectionState> {
  const leaving = new AbortController();
  const stop = realTimers.after(CONNECT_LIMITS.tryMs, () => leaving.abort());
  const begun = elapsed();
  try {
    const answer = await mind.answer(
      {
        priority: 'person',
        model,
        system: 'Answer with one word.',
        messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'Are you there?' }] }],
        tools: [],
        maxTokens: CONNECT_LIMITS.tryTokens,
      },
      { onText: () => undefined, signal: leaving.signal },
    );
    if (answer.ok) return { kind: 'answers', at: now(), ms: Math.round(elapsed() - begun) };
    const late = answer.error.kind === 'aborted';
    return {
      kind: 'fails',
      at: now(),
      why: late ? 'unreachable' : whyOf(answer.error.kind),
      message: late
        ? sentence`It said nothing for ${CONNECT_LIMITS.tryMs / 1_000} seconds. Is the model loaded? Try again.`
        : reasonOf(answer.error, model, host),
    };
  } finally {
    stop();
  }
}
