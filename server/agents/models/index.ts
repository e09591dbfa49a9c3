/**
 * The models of one household: those that the relay's environment names, and those that its pages
 * have connected.
 *
 * `connection.ts` is one connected server, and asks it for its models and for one word.
 * `trials.ts` tries a server before it is connected. `rows.ts` has the connections in the store.
 * `relay.ts` opens the models of each household.
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
  MODEL_LIMITS,
  type Models,
} from '../../../src/shared/protocol/models.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { type Mind, passedOn } from '../minds/index.ts';
import type { UpstreamKey } from '../proxy/upstream.ts';
import { waysTo } from './addresses.ts';
import { CONNECT_LIMITS, USUAL_SERVERS } from './settings.ts';
import { type Connected, createConnected, type ServerConnection, listModels, modelsIn } from './connection.ts';
import { createServerTrials, type NotAnswering } from './trials.ts';
import { createModelRows, type StoredModel, type ModelRowsDeps } from './rows.ts';

/** A model that is configured where the relay is started, for every household. */
export interface EnvironmentModel {
  readonly kept: StoredModel;
  readonly line: ServerConnection;
}

const ENVIRONMENT = 'environment';

export type Connecting =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly reason: 'unknown' | 'too-many'; readonly detail: string }
  | NotAnswering;

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
  const { lineOf, run: tried } = createServerTrials(deps);
  const connected = (
    connectionId: string,
    kept: StoredModel,
    line: ServerConnection,
    state: Connection['state'] = { kind: 'untried' },
  ) =>
    createConnected({
      ...{ connectionId, kept, line, state, now, elapsed, onState: deps.onChange },
      onWindows(next) {
        // The connection of the environment has no row. It learns its windows again after a start.
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
    const stored = await rows.all();
    const next = await Promise.all(
      stored.map(async ({ connectionId, ...each }) => {
        if (each.key !== null) deps.onKey(each.key);
        const page = pageOf(connectionId);
        if (!page) return connected(connectionId, each, lineOf(each));
        if (JSON.stringify(page.kept()) !== JSON.stringify(each))
          await page.take(lineOf(each), each, { kind: 'untried' });
        return page;
      }),
    );
    const gone = pages.filter((each) => !next.includes(each));
    settle(next);
    await Promise.all(gone.map((each) => each.close()));
  }
  await reread();

  const shown = (): Models => ({ connections: all().map((each) => each.shown()), may });

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
      const servers = await Promise.all(
        USUAL_SERVERS.map(async ({ program, address }): Promise<FoundServer[]> => {
          if (deps.isOwn(new URL(address))) return [];
          const server = { protocol: 'messages', baseUrl: address, headers: {}, fetch: globalThis.fetch } as const;
          const models = modelsIn(await listModels(server, CONNECT_LIMITS.findMs));
          return models === null ? [] : [{ program, address, models: [...models] }];
        }),
      );
      return servers.flat();
    },
    reread,
    async close() {
      await Promise.all(pages.map((each) => each.close()));
    },
  };
}
