/**
 * Tries a server before it is connected: which protocol it speaks, which models it has, and whether
 * one of them answers.
 */
import type { Connection, ListedModel } from '../../../src/shared/protocol/models.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { checkAddress } from '../../platform/guarded-fetch.ts';
import type { MindErrorKind } from '../minds/index.ts';
import { OFFICIAL_API } from '../minds/settings.ts';
import {
  createServerConnection,
  type ServerConnection,
  type Listing,
  modelsIn,
  needsKey,
  refusesKey,
  type Trial,
  usualModels,
} from './connection.ts';
import type { StoredModel } from './rows.ts';
import { CONNECT_LIMITS } from './settings.ts';

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

interface TrialDeps {
  readonly rights: HomeRights;
  /** Addresses of the relay itself, which would ask itself endlessly. */
  readonly isOwn: (url: URL) => boolean;
  readonly maxRequests: number;
  readonly now: () => number;
  readonly elapsed: () => number;
  /** Called with each key, so that no log contains it. */
  readonly onKey: (key: string) => void;
}

type TriedWay = Pick<StoredModel, 'protocol' | 'address'>;

/** A server that answered, and what is stored of it. */
interface Answering {
  readonly ok: true;
  readonly line: ServerConnection;
  readonly kept: StoredModel;
  readonly state: Connection['state'];
}
export type NotAnswering =
  | { readonly ok: false; readonly reason: 'address' | 'no-answer'; readonly detail: string }
  | { readonly ok: false; readonly reason: 'choose'; readonly detail: string; readonly models: readonly ListedModel[] };

export interface ServerTrials {
  /** The line to a server, without asking it. */
  lineOf(server: Pick<StoredModel, 'protocol' | 'key' | 'address' | 'leadModel' | 'agentModel'>): ServerConnection;
  /** Asks the server in these ways, the likeliest first, until a model answers. */
  run(
    given: Pick<StoredModel, 'kind' | 'key'> & { readonly model: string; readonly ways: readonly TriedWay[] },
  ): Promise<Answering | NotAnswering>;
}

export function createServerTrials(deps: TrialDeps): ServerTrials {
  const { now, elapsed } = deps;
  const may = deps.rights.servers;
  const lineOf: ServerTrials['lineOf'] = ({ protocol, key, address, leadModel, agentModel }) =>
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

  const run: ServerTrials['run'] = async (request) => {
    const { kind, key, ways } = request;
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
    const { lead: leadModel, agent: agentModel } = usualModels(kind, listed, request.model);
    if (leadModel === '') return { ok: false, reason: 'no-answer', detail: unlisted(listing, host, key !== null) };
    // A request may cost money, and the person's choice of model is unknown.
    if (kind === 'server' && key !== null && request.model === '' && listed.length > 1)
      return {
        ok: false,
        reason: 'choose',
        detail: sentence`${host} has ${listed.length} models. Choose one; nothing was asked yet.`,
        models: listed,
      };
    const usual = { leadModel, agentModel };
    // A server also lists embedding models, and models that it has not loaded.
    const others =
      kind === 'server' && request.model === ''
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
  };

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
    model: Pick<StoredModel, 'kind' | 'key' | 'models'>,
  ): Promise<Answering | Trial> {
    let first: Trial | null = null;
    for (const chosen of choices) {
      const kept: StoredModel = { ...model, ...way, ...chosen, windows: {} };
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

  return { lineOf, run };
}
