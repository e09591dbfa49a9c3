/**
 * The models of one household: those that the relay's environment names, and those that its pages
 * have connected.
 *
 * `connection.ts` is one connected server, and asks it for its models and for one word. `rows.ts`
 * has the connections in the store, and `relay.ts` opens the models of each household.
 *
 * Main type: `HomeModels`.
 *
 * Invariants:
 * - API keys are sealed in the store, and no endpoint returns them.
 * - A new key applies at once. A removed model answers nothing more.
 * - A run uses the models of its beginning. A session uses the current models for each answer.
 * - Where no model is connected, the demo mind answers.
 *
 * It does not know the content of requests.
 */
import {
  type Connection,
  type ConnectModel,
  type FoundServer,
  type ListedModel,
  MODEL_LIMITS,
  type Models,
  type Protocol,
} from '../../../src/shared/protocol/models.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { checkAddress } from '../../platform/guarded-fetch.ts';
import { type Mind, type MindErrorKind, passedOn } from '../minds/index.ts';
import { OFFICIAL_API } from '../minds/settings.ts';
import type { UpstreamKey } from '../proxy/upstream.ts';
import { CONNECT_LIMITS, KNOWN_HOSTS, USUAL_SERVERS } from './settings.ts';
import {
  type Connected,
  createConnected,
  createServerConnection,
  type ServerConnection,
  type Listing,
  listModels,
  modelsIn,
  needsKey,
  refusesKey,
  type Trial,
  usualModels,
} from './connection.ts';
import { createModelRows, type StoredModel, type ModelRowsDeps } from './rows.ts';

// Derives from an address the ways to ask its server: the protocol, and the base of its path.
// People paste what a server's documentation shows: a base URL with or without its version, or the
// full address of an endpoint. Where the address does not decide, each way is tried.

interface Way {
  readonly protocol: Protocol;
  /** For the Messages API without `/v1`. For others, everything before their path. */
  readonly address: string;
}

/** Endpoint paths by protocol. */
const CALLS: readonly (readonly [RegExp, Protocol])[] = [
  [/\/v1\/messages(?:\/count_tokens)?$/, 'messages'],
  [/\/messages$/, 'messages'],
  [/\/(?:chat\/)?completions$/, 'chat'],
  [/\/responses$/, 'responses'],
  [/\/models\/[^/]+:(?:streamGenerateContent|generateContent)$/i, 'google'],
];

const withoutSlash = (path: string) => path.replace(/\/+$/, '');
const VERSION = /\/v\d+(?:(?:alpha|beta)\d*)?$/;

/** The ways for this base, the likeliest first. */
function waysOf(origin: string, path: string): readonly Way[] {
  const at = (protocol: Protocol, rest: string): Way => ({ protocol, address: `${origin}${rest}` });
  // Gemini's own API, and its address for OpenAI clients.
  if (/\/v\d+(?:alpha|beta)\d*\/openai$/.test(path)) return [at('chat', path)];
  if (/\/v1beta$/.test(path)) return [at('google', path), at('chat', `${path}/openai`)];
  const base = path.replace(/\/v1$/, '');
  const chat = VERSION.test(path) ? path : `${path}/v1`;
  return [
    at('messages', base),
    at('chat', chat),
    // Some servers have no version in their paths.
    ...(chat === path ? [] : [at('chat', path)]),
  ];
}

/** `given`: an http or https URL. Returns at least one way. */
export function waysTo(given: string): readonly Way[] {
  const url = new URL(given);
  const { origin } = url;
  const path = withoutSlash(url.pathname);
  for (const [call, protocol] of CALLS)
    if (call.test(path)) {
      const base = withoutSlash(path.replace(call, ''));
      return [{ protocol, address: `${origin}${base}` }];
    }
  const stripped = withoutSlash(path.replace(/\/models$/, ''));
  const known = KNOWN_HOSTS[url.hostname];
  if (known && known.paths.includes(stripped))
    return known.ways.map((way) => ({ ...way, address: origin + way.address }));
  return waysOf(origin, stripped);
}

/** A model that is configured where the relay is started, for every household. */
export interface EnvironmentModel {
  readonly kept: StoredModel;
  readonly line: ServerConnection;
}

const ENVIRONMENT = 'environment';

export type Connecting =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly reason: 'address' | 'unknown' | 'too-many'; readonly detail: string }
  | { readonly ok: false; readonly reason: 'no-answer'; readonly detail: string }
  | { readonly ok: false; readonly reason: 'choose'; readonly detail: string; readonly models: readonly ListedModel[] };

export interface HomeModels {
  /** The current mind. It routes by the requested model. */
  readonly mind: Mind;
  /** Where the proxy sends a request for this model. Null: no model is connected. */
  upstream(model: string | null): UpstreamKey | null;
  /**
   * The mind for a model whose server does not speak the Messages API: the server that lists the
   * model, or the first one where none speaks it. Null: the request goes to `upstream`.
   */
  foreign(model: string | null): Mind | null;
  /**
   * Whether this is a Claude model, and every connected server has only others. Programs made for
   * Claude request it by themselves.
   */
  lacks(model: string): boolean;
  shown(): Models;
  /** Requests the models of every server, and returns them all. */
  list(): Promise<Models>;
  connect(given: ConnectModel): Promise<Connecting>;
  changeKey(connectionId: string, key: string): Promise<Connecting>;
  /** Null: it does not exist. */
  try(connectionId: string): Promise<Connection | null>;
  remove(connectionId: string): Promise<boolean>;
  /** Null: this household may not search there. */
  find(): Promise<FoundServer[] | null>;
  /** Reads the store again, because another process has changed it. */
  reread(): Promise<void>;
  close(): Promise<void>;
}

export interface HomeModelsDeps extends ModelRowsDeps {
  readonly environment: EnvironmentModel | null;
  /** Answers where no model is connected. */
  readonly rehearsal: Mind;
  readonly rights: HomeRights;
  /** Addresses of the relay itself, which would ask itself endlessly. */
  readonly isOwn: (url: URL) => boolean;
  readonly maxRequests: number;
  readonly elapsed: () => number;
  readonly newId: () => string;
  /** Something in `shown` has changed. */
  readonly onChange: () => void;
  /** Called with each key, so that no log contains it. */
  readonly onKey: (key: string) => void;
  /** A window that a server has stated could not be stored. */
  readonly onError: (error: unknown) => void;
}

/** Anthropic's own. */
const OWN = { protocol: 'messages', address: null } as const;
const NONE = sentence`The relay’s owner has not allowed pages to connect models (--model-addresses).`;

/**
 * After these failures another protocol may work: the path does not exist, or the answer has
 * another form.
 */
const MAY_BE_ANOTHER: ReadonlySet<MindErrorKind> = new Set([
  'no-such-address',
  'upstream-broken',
  'stream-cut',
  'refused-request',
  'bad-key',
]);
const NO_ADDRESS: ReadonlySet<MindErrorKind> = new Set(['no-such-address', 'upstream-broken']);

/** The most informative of several failures. */
function whyNot(failures: readonly Trial[], host: string): string {
  const telling = failures.find(({ failure }) => failure !== null && !NO_ADDRESS.has(failure)) ?? failures[0];
  if (telling?.failure === 'no-such-address' && failures.length > 1)
    return sentence`${host} speaks none of the protocols that Roost knows under this address. Give the one that its documentation calls “base URL”.`;
  return telling?.state.kind === 'fails' ? telling.state.message : sentence`It did not answer.`;
}

/** Why no models are known. */
function unlisted(listing: Listing, host: string, hasKey: boolean): string {
  switch (listing.kind) {
    case 'models':
      return sentence`${host} has no models yet. Load one there; if it has one all the same, type its name.`;
    case 'locked':
      return hasKey ? refusesKey(host) : needsKey(host);
    case 'unreachable':
      return sentence`${host} cannot be reached. Start it there, and check the address.`;
    case 'none':
      return sentence`${host} does not say which models it has. Type the name of its model.`;
    default:
      return listing satisfies never;
  }
}

/** Whether both addresses are the same server, whichever protocol was found there. */
const sameServer = (one: string | null, other: string | null) =>
  one === other || (one !== null && other !== null && one.replace(/\/v1$/, '') === other.replace(/\/v1$/, ''));

/** Names that Anthropic's programs request, also short ones ("sonnet"). */
const CLAUDE = /^(?:claude\b|(?:opus|sonnet|haiku|fable)$)/i;
/** Servers list the same model with or without a date. */
const isSame = (one: string, other: string) => one.startsWith(other) || other.startsWith(one);
const lacks = ({ kind, models, leadModel, agentModel }: StoredModel, model: string) =>
  kind === 'server' && ![leadModel, agentModel, ...models.map(({ id }) => id)].some((id) => isSame(id, model));

/** Routes by the requested model: to the first server that lists it, else to the first one. */
function routed(all: readonly Connected[], rehearsal: Mind): Mind {
  const [first] = all;
  if (!first) return rehearsal;
  const of = (model: string) => all.find((each) => each.kept().models.some(({ id }) => id === model)) ?? first;
  return {
    models: (chosen) => ({
      ...first.mind.models(chosen),
      leadModel: chosen.lead || first.kept().leadModel,
      agentModel: chosen.agent || first.kept().agentModel,
    }),
    ...passedOn((model) => of(model).mind),
    close: () => Promise.resolve(),
  };
}

export async function openHomeModels(deps: HomeModelsDeps): Promise<HomeModels> {
  const { environment, rehearsal, now, elapsed } = deps;
  const may = deps.rights.servers;
  const rows = createModelRows(deps);
  const lineOf = ({
    protocol,
    key,
    address,
    leadModel,
    agentModel,
  }: Pick<StoredModel, 'protocol' | 'key' | 'address' | 'leadModel' | 'agentModel'>) =>
    createServerConnection({
      protocol,
      key,
      address,
      models: { lead: leadModel, agent: agentModel },
      maxRequests: deps.maxRequests,
      guard: may,
      now,
      elapsed,
    });
  const connected = (
    connectionId: string,
    kept: StoredModel,
    line: ServerConnection,
    state: Connection['state'] = { kind: 'untried' },
  ) =>
    createConnected({
      ...{ connectionId, kept, line, state, now, elapsed, onState: deps.onChange },
      onWindows(next) {
        // One of the environment has no row, and learns again after a start.
        if (connectionId !== ENVIRONMENT) rows.put(connectionId, next).catch(deps.onError);
      },
    });

  const own = environment && connected(ENVIRONMENT, environment.kept, environment.line);
  let pages: Connected[] = [];
  let current: Mind = rehearsal;
  function settle(next: readonly Connected[]): void {
    pages = [...next];
    current = routed(all(), rehearsal);
  }
  const all = (): Connected[] => [...(own ? [own] : []), ...pages];
  const pageOf = (connectionId: string) => pages.find((each) => each.connectionId === connectionId);

  async function reread(): Promise<void> {
    const kept = await rows.all();
    const next = await Promise.all(
      kept.map(async ({ connectionId, ...each }) => {
        if (each.key !== null) deps.onKey(each.key);
        const known = pageOf(connectionId);
        if (!known) return connected(connectionId, each, lineOf(each));
        if (JSON.stringify(known.kept()) !== JSON.stringify(each))
          await known.take(lineOf(each), each, { kind: 'untried' });
        return known;
      }),
    );
    const gone = pages.filter((each) => !next.includes(each));
    settle(next);
    await Promise.all(gone.map((each) => each.close()));
  }
  await reread();

  const shown = (): Models => ({ connections: all().map((each) => each.shown()), may });

  type TriedWay = Pick<StoredModel, 'protocol' | 'address'>;
  type Tried = {
    readonly ok: true;
    readonly line: ServerConnection;
    readonly kept: StoredModel;
    readonly state: Connection['state'];
  };
  async function tried(
    given: Pick<StoredModel, 'kind' | 'key'> & { readonly model: string; readonly ways: readonly TriedWay[] },
  ): Promise<Tried | Extract<Connecting, { ok: false }>> {
    const { kind, key, ways } = given;
    const address = ways[0]?.address ?? null;
    if (key !== null) deps.onKey(key);
    if (may === 'none') return { ok: false, reason: 'address', detail: NONE };
    if (address !== null) {
      const url = new URL(address);
      if (deps.isOwn(url))
        return {
          ok: false,
          reason: 'address',
          detail: sentence`This is Roost’s own address: it would ask itself for ever.`,
        };
      const check = await checkAddress(url, may);
      if (check === 'refused') return { ok: false, reason: 'address', detail: deps.rights.refusal('inner-servers') };
      if (check === 'unknown')
        return {
          ok: false,
          reason: 'no-answer',
          detail: sentence`${url.hostname} cannot be found. Is the address right?`,
        };
    }
    const { host } = new URL(address ?? OFFICIAL_API);
    const found = await findListing(ways, key);
    const { listing } = found;
    const listed = modelsIn(listing) ?? [];
    const { lead: leadModel, agent: agentModel } = usualModels(kind, listed, given.model);
    if (leadModel === '') return { ok: false, reason: 'no-answer', detail: unlisted(listing, host, key !== null) };
    // A request may cost money, and the person's choice of model is unknown.
    if (kind === 'server' && key !== null && given.model === '' && listed.length > 1)
      return {
        ok: false,
        reason: 'choose',
        detail: sentence`${host} has ${listed.length} models. Choose one; nothing was asked yet.`,
        models: listed,
      };
    const usual = { leadModel, agentModel };
    // A server also lists embedding models, and models that it has not loaded.
    const others =
      kind === 'server' && given.model === ''
        ? listed.filter(({ id }) => id !== leadModel).slice(0, CONNECT_LIMITS.tried - 1)
        : [];
    const choices = [usual, ...others.map(({ id }) => ({ leadModel: id, agentModel: id }))];
    const failures: Trial[] = [];
    for (const way of found.ways) {
      const trial = await triedBy(way, choices, { kind, key, models: [...listed] });
      if ('line' in trial) return trial;
      failures.push(trial);
      if (trial.failure !== null && !MAY_BE_ANOTHER.has(trial.failure)) break;
    }
    return { ok: false, reason: 'no-answer', detail: whyNot(failures, host) };
  }

  /**
   * Requests the models in each way until one answers. That way and the later ones remain to be
   * tried.
   */
  async function findListing(ways: readonly TriedWay[], key: string | null) {
    let listing: Listing = { kind: 'none' };
    for (const way of ways) {
      const line = lineOf({ ...way, key, leadModel: '', agentModel: '' });
      const next = await line.list();
      await line.close();
      if (next.kind === 'models') return { listing: next, ways };
      // The most informative of several results.
      if (next.kind !== 'none') listing = next;
      if (next.kind === 'unreachable') break;
    }
    return { listing, ways };
  }

  /** Tries one way, with one model after another. */
  async function triedBy(
    way: TriedWay,
    choices: readonly Pick<StoredModel, 'leadModel' | 'agentModel'>[],
    given: Pick<StoredModel, 'kind' | 'key' | 'models'>,
  ): Promise<Tried | Trial> {
    let first: Trial | null = null;
    for (const chosen of choices) {
      const kept: StoredModel = { ...given, ...way, ...chosen, windows: {} };
      const line = lineOf(kept);
      const trial = await line.try(chosen.agentModel, true);
      if (trial.failure === null) return { ok: true, line, kept, state: trial.state };
      await line.close();
      first ??= trial;
      if (trial.state.kind !== 'fails' || (trial.state.why !== 'no-model' && trial.state.why !== 'other')) break;
      // A wrong path is wrong for every model.
      if (trial.failure === 'no-such-address') break;
    }
    return first ?? { state: { kind: 'untried' }, failure: 'aborted' };
  }

  return {
    mind: {
      current: () => current,
      models: (chosen) => current.models(chosen),
      ...passedOn(() => current),
      close: () => Promise.resolve(),
    },
    upstream(model) {
      const speaking = all().filter((each) => each.line().upstream !== null);
      const listing =
        model === null ? undefined : speaking.find((each) => each.kept().models.some(({ id }) => id === model));
      return (listing ?? speaking[0])?.line().upstream ?? null;
    },
    foreign(model) {
      const lists = ({ kept }: Connected) => kept().models.some(({ id }) => id === model);
      const speaks = (each: Connected) => each.line().upstream !== null;
      const there = all().find(lists) ?? all().find(speaks) ?? all()[0];
      return there && !speaks(there) ? there.mind : null;
    },
    lacks: (model) => CLAUDE.test(model) && all().length > 0 && all().every((each) => lacks(each.kept(), model)),
    shown,
    async list() {
      await Promise.all(
        all().map(async (each) => {
          const models = modelsIn(await each.line().list())?.slice() ?? null;
          const kept = each.kept();
          if (models === null || JSON.stringify(models) === JSON.stringify(kept.models)) return;
          const next = { ...kept, models };
          if (each !== own) await rows.put(each.connectionId, next);
          each.relist(models);
        }),
      );
      return shown();
    },
    async connect(given) {
      if (pages.length >= MODEL_LIMITS.connections)
        return {
          ok: false,
          reason: 'too-many',
          detail: sentence`${MODEL_LIMITS.connections} models are connected, which is the most. Remove one first.`,
        };
      const ways = given.kind === 'claude' ? [OWN] : waysTo(given.address);
      const key = given.key ?? null;
      const result = await tried({ kind: given.kind, ways, key, model: given.model ?? '' });
      if (!result.ok) return result;
      const { line, kept, state } = result;
      // Connecting the same server again updates its connection.
      const same = pages.find((each) => sameServer(each.kept().address, kept.address));
      const connectionId = same?.connectionId ?? deps.newId();
      await rows.put(connectionId, kept);
      if (same) await same.take(line, kept, state);
      const added = same ?? connected(connectionId, kept, line, state);
      settle(same ? pages : [...pages, added]);
      deps.onChange();
      return { ok: true, connection: added.shown() };
    },
    async changeKey(connectionId, key) {
      const there = pageOf(connectionId);
      if (!there) return { ok: false, reason: 'unknown', detail: 'There is no such connection of a page.' };
      const { kind, protocol, address, models, leadModel } = there.kept();
      const ways = [{ protocol, address }];
      const result = await tried({ kind, ways, key, model: kind === 'server' ? leadModel : '' });
      if (!result.ok) return result;
      const kept = { ...result.kept, models: result.kept.models.length > 0 ? result.kept.models : models };
      await rows.put(connectionId, kept);
      await there.take(result.line, kept, result.state);
      settle(pages);
      return { ok: true, connection: there.shown() };
    },
    async try(connectionId) {
      const there = all().find((each) => each.connectionId === connectionId);
      if (!there) return null;
      there.note((await there.line().try(there.kept().agentModel)).state);
      return there.shown();
    },
    async remove(connectionId) {
      const there = pageOf(connectionId);
      if (!there) return false;
      await rows.remove(connectionId);
      settle(pages.filter((each) => each !== there));
      await there.close();
      deps.onChange();
      return true;
    },
    async find() {
      if (may !== 'any') return null;
      const found = await Promise.all(
        USUAL_SERVERS.map(async ({ program, address }): Promise<FoundServer[]> => {
          if (deps.isOwn(new URL(address))) return [];
          const server = { protocol: 'messages', baseUrl: address, headers: {}, fetch: globalThis.fetch } as const;
          const models = modelsIn(await listModels(server, CONNECT_LIMITS.findMs));
          return models === null ? [] : [{ program, address, models: [...models] }];
        }),
      );
      return found.flat();
    },
    reread,
    async close() {
      await Promise.all(pages.map((each) => each.close()));
    },
  };
}
