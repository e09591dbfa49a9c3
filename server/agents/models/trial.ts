/** Asks a server for its models, and one model for a word. */
import { z } from 'zod';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import {
  MODEL_LIMITS,
  type ConnectionState,
  type ListedModel,
  type Protocol,
} from '../../../src/shared/protocol/models.ts';
import { createBoundedFetch } from '../../platform/guarded-fetch.ts';
import type { Mind, MindError, MindErrorKind, MindTool } from '../minds/index.ts';
import { CONNECT_LIMITS } from './settings.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';

const optional = z.string().optional().catch(undefined);
/** The list of Anthropic and of every server with OpenAI's list, and Google's own form. */
const listSchema = z.union([
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => models),
]);
const modelSchema = z.union([
  z.object({ id: z.string(), display_name: optional, name: optional }),
  z
    .object({
      name: z.string(),
      displayName: optional,
      supportedGenerationMethods: z.array(z.string()).default(['generateContent']),
    })
    .refine(({ supportedGenerationMethods }) => supportedGenerationMethods.includes('generateContent'))
    .transform(({ name, displayName }) => ({
      id: name.replace(/^models\//, ''),
      display_name: displayName,
      name: undefined,
    })),
]);

/** Invalid entries are left out. */
function listedIn(all: readonly unknown[]): ListedModel[] {
  return all.slice(0, MODEL_LIMITS.listed).flatMap((each): ListedModel[] => {
    const parsed = modelSchema.safeParse(each);
    if (!parsed.success) return [];
    const { id, display_name: shown, name } = parsed.data;
    if (id === '' || id.length > MODEL_LIMITS.model) return [];
    return [{ id, name: (shown ?? name ?? id).slice(0, MODEL_LIMITS.model) }];
  });
}

const LIST_BOUNDS = {
  messageBytes: CONNECT_LIMITS.listBytes,
  json: { depth: CONNECT_LIMITS.listDepth, values: CONNECT_LIMITS.listValues },
};

export interface ListedServer {
  readonly protocol: Protocol;
  /** As in `Way`. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

/**
 * The result of requesting a server's models. `none`: it has no such list. `locked`: it refuses
 * requests without a key, or with this one. `unreachable`: nothing answers.
 */
export type Listing =
  | { readonly kind: 'models'; readonly models: readonly ListedModel[] }
  | { readonly kind: 'none' | 'locked' | 'unreachable' };

export const modelsIn = (listing: Listing): readonly ListedModel[] | null =>
  listing.kind === 'models' ? listing.models : null;

function listAddress({ protocol, baseUrl }: ListedServer): string {
  const base = baseUrl.replace(/\/+$/, '');
  if (protocol === 'messages') return `${base}/v1/models?limit=${MODEL_LIMITS.listed}`;
  return protocol === 'google' ? `${base}/models?pageSize=${MODEL_LIMITS.listed}` : `${base}/models`;
}

export async function listModels(server: ListedServer, ms: number = CONNECT_LIMITS.listMs): Promise<Listing> {
  let response: Response;
  let isThere = false;
  const noted: typeof globalThis.fetch = async (...args) => {
    const answer = await server.fetch(...args);
    isThere = true;
    return answer;
  };
  try {
    response = await createBoundedFetch(LIST_BOUNDS, noted)(listAddress(server), {
      headers: { ...server.headers, accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(ms),
    });
  } catch (error) {
    // A server that is slow or sends too much does exist.
    const isSlow = error instanceof Error && error.name === 'TimeoutError';
    return { kind: isThere || isSlow ? 'none' : 'unreachable' };
  }
  try {
    if (!response.ok) {
      await response.body?.cancel();
      return { kind: response.status === 401 || response.status === 403 ? 'locked' : 'none' };
    }
    const parsed = listSchema.safeParse(await response.json());
    return parsed.success ? { kind: 'models', models: listedIn(parsed.data) } : { kind: 'none' };
  } catch {
    // Any other failure means that there is no list. The trial request tells the cause.
    return { kind: 'none' };
  }
}

/** The category of a model server's failure on the page. */
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
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly elapsed: () => number;
}

/** Set while a server is being connected, when the person still sees key, address and model. */
export interface Connecting {
  readonly host: string;
  readonly hasKey: boolean;
}

export const needsKey = (host: string): string => sentence`${host} needs a key. Make one there, and paste it here.`;

/** Why it does not answer. `connecting` is null for a stored connection. */
function reasonOf({ kind, message, said }: MindError, model: string, connecting: Connecting | null): string {
  if (connecting === null) return message;
  const { host, hasKey } = connecting;
  if (kind === 'bad-key' && !hasKey) return needsKey(host);
  if (kind === 'bad-key')
    return said === undefined
      ? sentence`${host} did not accept this key. Copy it once more, whole, or make a new one there.`
      : sentence`${host} knows this key, but does not let it use the model “${model}”. Allow it there, or make another key, and paste it here. ${host} said: ${said}`;
  if (kind === 'no-such-model')
    return sentence`${host} does not know the model “${model}”. Type the name of one that it has. ${host} said: ${said ?? '…'}`;
  return message;
}

export interface Trial {
  readonly state: ConnectionState;
  /** The failure. Null: it answers. */
  readonly failure: MindErrorKind | null;
}

/**
 * A model without tool support refuses, or is asked again without tools. This shows before an agent
 * is born with it.
 */
const TOOL: MindTool = {
  name: 'say_present',
  description: 'Says that somebody is there. There is no need to call it.',
  properties: { word: { type: 'string', description: 'one word' } },
  required: ['word'],
};

/** One short request, with few words and one tool, that tests the model. */
export async function tryModel(
  mind: Mind,
  model: string,
  connecting: Connecting | null,
  { now, elapsed }: TrialClock,
): Promise<Trial> {
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
        tools: [TOOL],
        maxTokens: CONNECT_LIMITS.tryTokens,
      },
      { onText: () => undefined, signal: leaving.signal },
    );
    if (answer.ok)
      return {
        state: { kind: 'answers', at: now(), ms: Math.round(elapsed() - begun), tools: answer.toolless !== true },
        failure: null,
      };
    const { kind } = answer.error;
    const late = kind === 'aborted';
    return {
      state: {
        kind: 'fails',
        at: now(),
        why: late ? 'unreachable' : whyOf(kind),
        message: late
          ? sentence`It said nothing for ${CONNECT_LIMITS.tryMs / 1_000} seconds. Is the model loaded? Try again.`
          : reasonOf(answer.error, model, connecting),
      },
      failure: kind,
    };
  } finally {
    stop();
  }
}
