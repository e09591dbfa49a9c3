/** One connected model server: its mind, its models, and the result of its last answer. */
import { z } from 'zod';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import {
  type Connection,
  type ConnectionState,
  type ListedModel,
  type MayConnect,
  MODEL_LIMITS,
  type Protocol,
} from '../../../src/shared/protocol/models.ts';
import type { Usage } from '../../../src/shared/protocol/documents.ts';
import { modelNameFault } from '../../../src/shared/domain/model-names.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { createBoundedFetch, createGuardedAgent, createGuardedFetch, guardOf } from '../../platform/guarded-fetch.ts';
import type { KeyHeader } from '../../platform/key-filter.ts';
import {
  createServedMind,
  DEFAULT_MODELS,
  type Mind,
  type MindAnswer,
  type MindError,
  type MindErrorKind,
  type MindTool,
  missingKey,
  weakKey,
  wrongKey,
} from '../minds/index.ts';
import { OFFICIAL_API } from '../minds/settings.ts';
import type { UpstreamKey } from '../proxy/upstream.ts';
import { CONNECT_LIMITS, TALKS_NOT } from './settings.ts';
import type { StoredModel } from './rows.ts';

// Asks a server for its models, and one model for a word.

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
    if (modelNameFault(id) !== null || id.length > MODEL_LIMITS.model) return [];
    return [{ id, name: (shown ?? name ?? id).slice(0, MODEL_LIMITS.model) }];
  });
}

const LIST_BOUNDS = {
  messageBytes: CONNECT_LIMITS.listBytes,
  json: { depth: CONNECT_LIMITS.listDepth, values: CONNECT_LIMITS.listValues },
};

interface ListedServer {
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
function whyOf(kind: MindErrorKind): Extract<ConnectionState, { kind: 'fails' }>['why'] {
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

interface TrialClock {
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly elapsed: () => number;
}

/** Set while a server is being connected, when the person still sees key, address and model. */
interface Connecting {
  readonly host: string;
  readonly hasKey: boolean;
}

const NEW_KEY = sentence`Make a new one there, and paste it here.`;
export const needsKey = (host: string): string => missingKey(host, NEW_KEY);
export const refusesKey = (host: string): string => wrongKey(host, NEW_KEY);

/** Why it does not answer. `connecting` is null for a stored connection. */
function reasonOf({ kind, message, said }: MindError, connecting: Connecting | null): string {
  if (connecting === null) return message;
  const { host, hasKey } = connecting;
  if (kind === 'bad-key' && !hasKey) return needsKey(host);
  if (kind === 'bad-key') return said === undefined ? refusesKey(host) : weakKey(host, NEW_KEY, said);
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
  description: 'Reports that somebody is there. You need not call it.',
  properties: { word: { type: 'string', description: 'one word' } },
  required: ['word'],
};

/** One short request, with few words and one tool, that tests the model. */
async function tryModel(
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
          : reasonOf(answer.error, connecting),
      },
      failure: kind,
    };
  } finally {
    stop();
  }
}

export interface ServerConnection {
  readonly mind: Mind;
  /** For programs that speak the Messages API. Null: this server does not. */
  readonly upstream: UpstreamKey | null;
  /** Requests its list of models. */
  list(ms?: number): Promise<Listing>;
  /** `connecting`: the connection is not stored yet, and the person still sees its settings. */
  try(model: string, connecting?: boolean): Promise<Trial>;
  close(): Promise<void>;
}

interface ServerConnectionDeps extends TrialClock {
  readonly key: string | null;
  readonly protocol: Protocol;
  /** As in `Way`. Null: Anthropic's own. */
  readonly address: string | null;
  readonly keyHeader?: KeyHeader | null;
  readonly models: { readonly lead: string; readonly agent: string };
  readonly maxRequests: number;
  /** Null: the server was configured where the relay was started. */
  readonly guard: MayConnect | null;
}

export function createServerConnection({
  protocol,
  key,
  address,
  keyHeader = null,
  models,
  maxRequests,
  guard,
  now,
  elapsed,
}: ServerConnectionDeps): ServerConnection {
  const guarded = guard === null || address === null ? null : createGuardedFetch(guard);
  const mind = createServedMind({
    protocol,
    key,
    baseUrl: address,
    models,
    maxRequests,
    ...(keyHeader === null ? {} : { keyHeader }),
    ...(guard === null ? {} : { setOn: 'page' }),
    ...(guarded ? { fetch: guarded.fetch } : {}),
  });
  const form = keyHeader ?? (address === null ? 'bearer' : 'both');
  const keyHeaders: Record<string, string> =
    key === null
      ? {}
      : protocol === 'google'
        ? { 'x-goog-api-key': key }
        : {
            ...(form !== 'x-api-key' || protocol !== 'messages' ? { authorization: `Bearer ${key}` } : {}),
            ...(form !== 'bearer' && protocol === 'messages' ? { 'x-api-key': key } : {}),
          };
  const server: ListedServer = {
    protocol,
    baseUrl: address ?? OFFICIAL_API,
    headers: { ...(protocol === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}), ...keyHeaders },
    fetch: guarded?.fetch ?? globalThis.fetch,
  };
  return {
    mind,
    upstream:
      protocol === 'messages'
        ? {
            ...{ key, keyHeader, baseUrl: address },
            ...(guarded && guard && address !== null
              ? { createAgent: () => createGuardedAgent(new URL(address).protocol === 'https:', guardOf(guard)) }
              : {}),
          }
        : null,
    list: (ms) => listModels(server, ms),
    try: (model, connecting = false) =>
      tryModel(mind, model, connecting ? { host: new URL(server.baseUrl).host, hasKey: key !== null } : null, {
        now,
        elapsed,
      }),
    async close() {
      await mind.close();
      await guarded?.close();
    },
  };
}

/**
 * The default models: Roost's own defaults where they are listed, else the nearest by name, else
 * the first.
 */
export function usualModels(
  kind: StoredModel['kind'],
  listed: readonly ListedModel[],
  given: string,
): { readonly lead: string; readonly agent: string } {
  if (given !== '') return { lead: given, agent: given };
  const first = (listed.find(({ id }) => !TALKS_NOT.test(id)) ?? listed[0])?.id;
  if (kind === 'server') return { lead: first ?? '', agent: first ?? '' };
  const nearest = (wanted: string, family: string) =>
    listed.length === 0 || listed.some(({ id }) => id === wanted)
      ? wanted
      : (listed.find(({ id }) => id.includes(family))?.id ?? first ?? wanted);
  return { lead: nearest(DEFAULT_MODELS.lead, 'opus'), agent: nearest(DEFAULT_MODELS.agent, 'sonnet') };
}

const GONE: MindAnswer = {
  ok: false,
  error: {
    kind: 'bad-key',
    message: 'The model of this session was removed. End the session: the next begins with what is connected then.',
    lasting: true,
  },
  blocks: [],
  usage: null,
  whole: true,
  outputMost: null,
};

/**
 * A connection as sessions use it. A new key applies at once, and a removed connection answers
 * nothing more.
 */
export interface Connected {
  readonly connectionId: string;
  readonly mind: Mind;
  kept(): StoredModel;
  shown(): Connection;
  line(): ServerConnection;
  note(state: ConnectionState): void;
  /** The list of models has changed. */
  relist(models: readonly ListedModel[]): void;
  take(line: ServerConnection, kept: StoredModel, state: ConnectionState): Promise<void>;
  close(): Promise<void>;
}

interface ConnectedDeps {
  readonly connectionId: string;
  readonly kept: StoredModel;
  readonly line: ServerConnection;
  readonly state: ConnectionState;
  readonly now: () => number;
  readonly elapsed: () => number;
  /** The result of its last answer has changed. */
  readonly onState: () => void;
  /** The server has stated a model's window. Left out: that is not stored. */
  readonly onWindows?: (kept: StoredModel) => void;
}

const readBy = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  inputTokens + cacheReadTokens + cacheWriteTokens;

export function createConnected(deps: ConnectedDeps): Connected {
  let { kept, line, state } = deps;
  let removed = false;
  /** Tokens that the server reads of a request, by model, where it drops the rest in silence. */
  const reads = new Map<string, number>();

  function note(next: ConnectionState): void {
    const same =
      next.kind === state.kind &&
      (next.kind !== 'fails' || state.kind !== 'fails' || next.why === state.why) &&
      (next.kind !== 'answers' || state.kind !== 'answers' || next.tools === state.tools);
    state = next;
    if (!same) deps.onState();
  }

  return {
    connectionId: deps.connectionId,
    mind: {
      models: (chosen) => line.mind.models(chosen),
      web: (model) => line.mind.web?.(model) ?? false,
      searches: (model) => line.mind.searches?.(model) ?? false,
      readsOnly(model, tokens) {
        const isNew = !reads.has(model);
        reads.set(model, Math.max(tokens, reads.get(model) ?? 0));
        if (isNew) deps.onState();
        return isNew;
      },
      batches: (model) => (removed ? null : (line.mind.batches?.(model) ?? null)),
      window: (model) => kept.windows[model] ?? null,
      learn(model, tokens) {
        if (kept.windows[model] === tokens) return;
        kept = { ...kept, windows: { ...kept.windows, [model]: tokens } };
        deps.onWindows?.(kept);
      },
      async answer(request, listener) {
        if (removed) return GONE;
        const begun = deps.elapsed();
        const answer = await line.mind.answer(request, listener);
        const at = deps.now();
        if (answer.usage && readBy(answer.usage) > (reads.get(request.model) ?? Infinity) * CONNECT_LIMITS.readsMore) {
          // Its context is larger now.
          reads.delete(request.model);
          deps.onState();
        }
        if (answer.ok)
          note({
            kind: 'answers',
            at,
            ms: Math.round(deps.elapsed() - begun),
            ...(request.tools.length > 0
              ? { tools: !answer.toolless }
              : 'tools' in state
                ? { tools: state.tools }
                : {}),
          });
        else {
          const why = whyOf(answer.error.kind);
          // A failure of one particular request says nothing about the next.
          if (why !== 'other' && why !== 'busy') note({ kind: 'fails', at, why, message: answer.error.message });
        }
        return answer;
      },
      close: () => Promise.resolve(),
    },
    kept: () => kept,
    shown: () => ({
      connectionId: deps.connectionId,
      kind: kept.kind,
      address: kept.address,
      protocol: kept.protocol,
      hasKey: kept.key !== null,
      models: kept.models,
      leadModel: kept.leadModel,
      agentModel: kept.agentModel,
      state,
      readsOnly: [...reads].map(([model, tokens]) => ({ model, tokens })),
    }),
    line: () => line,
    note,
    relist(models) {
      kept = { ...kept, models: [...models] };
      deps.onState();
    },
    async take(nextLine, nextKept, nextState) {
      const before = line;
      [line, kept, state] = [nextLine, nextKept, nextState];
      await before.mind.close();
      deps.onState();
    },
    async close() {
      removed = true;
      await line.close();
    },
  };
}
