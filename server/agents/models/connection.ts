/** One connected model server: its mind, its models, and the result of its last answer. */
import type {
  Connection,
  ConnectionState,
  ListedModel,
  MayConnect,
  Protocol,
} from '../../../src/shared/protocol/models.ts';
import type { KeyHeader } from '../../platform/key-filter.ts';
import { createServedMind, DEFAULT_MODELS, type Mind, type MindAnswer } from '../minds/index.ts';
import { OFFICIAL_API } from '../minds/settings.ts';
import type { UpstreamKey } from '../proxy/upstream.ts';
import { createGuardedAgent, createGuardedFetch, guardOf } from '../../platform/guarded-fetch.ts';
import type { Kept } from './rows.ts';
import { TALKS_NOT } from './settings.ts';
import { listModels, tryModel, whyOf, type ListedServer, type Listing, type Trial, type TrialClock } from './trial.ts';

export interface Line {
  readonly mind: Mind;
  /** For programs that speak the Messages API. Null: this server does not. */
  readonly upstream: UpstreamKey | null;
  /** Requests its list of models. */
  list(ms?: number): Promise<Listing>;
  /** `connecting`: the connection is not stored yet, and the person still sees its settings. */
  try(model: string, connecting?: boolean): Promise<Trial>;
  close(): Promise<void>;
}

export interface LineDeps extends TrialClock {
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

export function createLine({
  protocol,
  key,
  address,
  keyHeader = null,
  models,
  maxRequests,
  guard,
  now,
  elapsed,
}: LineDeps): Line {
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
  kind: Kept['kind'],
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
  kept(): Kept;
  shown(): Connection;
  line(): Line;
  note(state: ConnectionState): void;
  /** The list of models has changed. */
  relist(models: readonly ListedModel[]): void;
  take(line: Line, kept: Kept, state: ConnectionState): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectedDeps {
  readonly connectionId: string;
  readonly kept: Kept;
  readonly line: Line;
  readonly state: ConnectionState;
  readonly now: () => number;
  readonly elapsed: () => number;
  /** The result of its last answer has changed. */
  readonly onState: () => void;
}

export function createConnected(deps: ConnectedDeps): Connected {
  let { kept, line, state } = deps;
  let removed = false;

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
      async answer(request, listener) {
        if (removed) return GONE;
        const begun = deps.elapsed();
        const answer = await line.mind.answer(request, listener);
        const at = deps.now();
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
