/**
 * The team and its settings, from which the grid is painted. Filled once by the data worker's view,
 * then by documents as they are stored and by births as they are announced. Applying a document
 * twice changes nothing.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { displayName, type Roster, rosterOf } from '../../shared/domain/agent.ts';
import { applicationNameOf, webhookNameOf } from '../../shared/domain/applications.ts';
import { shownName } from '../../shared/domain/names.ts';
import { LEAD_ID } from '../../shared/domain/seat.ts';
import { type Settings, settingsOf } from '../../shared/domain/settings.ts';
import { type AgentChoice, choiceOf, choicesOf } from '../../shared/domain/choices.ts';
import { finalForgets, forgottenAgents, pendingForgets } from '../../shared/domain/forgetting.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { readMarkOf } from '../../shared/domain/read-marks.ts';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  Doc,
  ForgetDoc,
  ForgetUndoDoc,
  QueuedMessageDoc,
  SettingDoc,
} from '../../shared/protocol/documents.ts';
import { isCovered, isKnown, type KnownDoc, slotOf, storeOf, wins } from '../../shared/protocol/documents/kinds.ts';
import type { HouseholdView } from '../../shared/protocol/worker.ts';
import { SOURCE, t } from '../language/t.ts';

// Names of people and agents in this household.

export const humanNameOf = (settings: Settings): string => shownName(settings.humanName, 'person');
export const leadNameOf = (roster: Roster, settings: Settings): string =>
  roster.lead?.name ?? shownName(settings.leadName, 'lead');

/** The language that goes along with requests. English is the default and left out. */
export const speaking = (language: string): { readonly language?: string } => (language === SOURCE ? {} : { language });

export function authorName(author: string, roster: Roster, settings: Settings): string {
  if (author === 'human') return humanNameOf(settings);
  if (author === 'relay') return 'Roost';
  if (author === LEAD_ID) return leadNameOf(roster, settings);
  const application = applicationNameOf(author);
  if (application !== null) return t`${application} (application)`;
  const webhook = webhookNameOf(author);
  if (webhook !== null) return t`${webhook} (webhook)`;
  const agent = roster.byId.get(author);
  return agent ? displayName(agent, roster) : 'somebody';
}

export interface HouseholdState {
  readonly status: 'loading' | 'ready' | 'failed';
  /** Why it could not be read, for people. */
  readonly error: string | null;
  readonly identities: ReadonlyMap<string, AgentIdentityDoc>;
  readonly changes: ReadonlyMap<string, AgentChangeDoc>;
  readonly settingDocs: ReadonlyMap<string, SettingDoc>;
  /** The current documents of every kind without a store of its own, by subject. */
  readonly records: ReadonlyMap<string, Doc>;
  readonly queued: readonly QueuedMessageDoc[];
  /**
   * Forgets that are neither undone nor final, latest first. What they cover stays in `identities`
   * and `changes` only.
   */
  readonly forgetting: readonly ForgetDoc[];
  /** Agents that were forgotten for good. */
  readonly forgotten: readonly AgentId[];
  /** Requests that are final. */
  readonly forgets: readonly ForgetDoc[];
  /** Without agents that are being forgotten. */
  readonly roster: Roster;
  readonly settings: Settings;
}

export interface Household {
  readonly store: StoreApi<HouseholdState>;
  load(view: HouseholdView): void;
  fail(error: string): void;
  take(docs: readonly Doc[]): void;
  /** Is this hidden because it is being forgotten, or is forgotten? */
  isHidden(doc: Doc): boolean;
  /** These forgets are final: drops what they cover. */
  drop(forgets: readonly ForgetDoc[]): void;
}

const withId = <T extends { _id: string }>(doc: T) => ({ ...doc, id: doc._id });

/** The team of these documents. */
export const rosterOfDocs = (
  identities: Iterable<AgentIdentityDoc>,
  changes: Iterable<AgentChangeDoc>,
  person: string | null = null,
  choices: ReadonlyMap<string, AgentChoice> = new Map(),
): Roster => rosterOf([...identities].map(withId), [...changes].map(withId), person, choices);

/** Merges newer documents into the map. Returns the same map if nothing changes. */
function withNewest(newest: ReadonlyMap<string, Doc>, docs: readonly Doc[]): ReadonlyMap<string, Doc> {
  let records: Map<string, Doc> | null = null;
  for (const doc of docs) {
    const slot = storeOf(doc) === 'records' ? slotOf(doc) : null;
    const before = slot === null ? undefined : (records ?? newest).get(slot);
    if (slot === null || (before && !wins(doc, before))) continue;
    records ??= new Map(newest);
    records.set(slot, doc);
  }
  return records ?? newest;
}

const isChoice = (doc: KnownDoc) => doc.type === 'setting' && choiceOf(doc) !== null;

const latestFirst = (a: ForgetDoc, b: ForgetDoc) => (a.at < b.at ? 1 : -1);

/** `now` returns ms since the epoch. `last`: what is shown until the ledger is read. */
export function createHousehold(
  now: () => number,
  last: Pick<HouseholdState, 'roster' | 'settings'> | null = null,
): Household {
  const store = createStore<HouseholdState>()(() => ({
    status: 'loading',
    error: null,
    identities: new Map(),
    changes: new Map(),
    settingDocs: new Map(),
    records: new Map(),
    queued: [],
    forgetting: [],
    forgotten: [],
    forgets: [],
    roster: last?.roster ?? rosterOf([], []),
    settings: last?.settings ?? settingsOf([]),
  }));

  /** Client ids of messages that a relay has accepted. Their queued copies are obsolete. */
  const sentClientIds = new Set<string>();
  const forgets = new Map<string, ForgetDoc>();
  const undos = new Map<string, ForgetUndoDoc>();
  /** Forgets that hide something: requested and not undone. */
  let hiding: readonly ForgetDoc[] = [];
  const isHidden = (doc: Doc) => hiding.some((forget) => isCovered(doc, forget));

  const inSight = (doc: Doc) => !isHidden(doc);

  function take(docs: readonly Doc[], status?: 'ready') {
    const state = store.getState();
    const identities = new Map(state.identities);
    const changes = new Map(state.changes);
    const settingDocs = new Map(state.settingDocs);
    const records = withNewest(state.records, docs);
    const queued = new Map(state.queued.map((doc) => [doc.clientId, doc]));
    const forgetCount = forgets.size + undos.size;
    for (const doc of docs) {
      if (!isKnown(doc)) continue;
      switch (doc.type) {
        case 'agent-identity':
          identities.set(doc._id, doc);
          break;
        case 'agent-change':
          changes.set(doc._id, doc);
          break;
        case 'setting':
          // Read marks are not settings: see ./unread.ts.
          if (readMarkOf(doc) === null) settingDocs.set(doc._id, doc);
          break;
        case 'queued-message':
          if (!sentClientIds.has(doc.clientId)) queued.set(doc.clientId, doc);
          break;
        case 'message':
          if (doc.clientId) {
            sentClientIds.add(doc.clientId);
            queued.delete(doc.clientId);
          }
          break;
        case 'message-withdrawn':
          // A message that the relay accepted in the end is shown as sent.
          if (doc.of === undefined) sentClientIds.add(doc.clientId);
          if (doc.of === undefined) queued.delete(doc.clientId);
          break;
        case 'forget':
          forgets.set(doc._id, doc);
          break;
        case 'forget-undo':
          undos.set(doc._id, doc);
          break;
        default:
          break;
      }
    }
    const forgetsChanged = forgets.size + undos.size !== forgetCount;
    let { forgetting } = state;
    if (forgetsChanged) {
      forgetting = pendingForgets([...forgets.values()], [...undos.values()], now()).sort(latestFirst);
      hiding = [...forgetting, ...finalForgets([...forgets.values()], [...undos.values()], now())];
    }
    for (const doc of queued.values()) if (isHidden(doc)) queued.delete(doc.clientId);
    const people = forgetsChanged || identities.size !== state.identities.size || changes.size !== state.changes.size;
    const wishes = settingDocs.size !== state.settingDocs.size;
    // Documents announced by the relay are not the whole team. The team of the last visit is shown
    // until the ledger is read.
    const isShown = last === null || state.status === 'ready' || status === 'ready';
    const settings = wishes || status ? settingsOf([...settingDocs.values()].map(withId)) : state.settings;
    // Agents who share the person's name are told apart by colour, which may change with the name
    // or the chosen look.
    const called =
      settings.humanName !== state.settings.humanName || (wishes && docs.some((doc) => isKnown(doc) && isChoice(doc)));
    const waiting = queued.size !== state.queued.length;
    const recorded = records !== state.records;
    if (!people && !wishes && !waiting && !recorded && !status) return;
    store.setState({
      ...(status ? { status, error: null } : {}),
      ...(people ? { identities, changes, forgetting } : {}),
      ...(isShown && (people || called || status)
        ? {
            roster: rosterOfDocs(
              [...identities.values()].filter(inSight),
              [...changes.values()].filter(inSight),
              settings.humanName,
              choicesOf([...settingDocs.values()].map(withId)),
            ),
          }
        : {}),
      ...(wishes ? { settingDocs } : {}),
      ...(isShown && (wishes || status) ? { settings } : {}),
      ...(recorded ? { records } : {}),
      ...(waiting ? { queued: [...queued.values()].sort((a, b) => (a.at < b.at ? -1 : 1)) } : {}),
    });
  }

  return {
    store,
    load(view) {
      store.setState({ forgotten: view.forgotten, forgets: view.forgets });
      take(
        [...view.identities, ...view.changes, ...view.settings, ...view.records, ...view.queued, ...view.forgetting],
        'ready',
      );
    },
    fail: (error) => store.setState({ status: 'failed', error }),
    take,
    isHidden,
    drop(final) {
      const { identities, changes } = store.getState();
      const stays = ([, doc]: readonly [string, Doc]) => !final.some((forget) => isCovered(doc, forget));
      take(final);
      store.setState(({ forgetting, forgotten, forgets: before, queued, records }) => ({
        forgets: [...before.filter(({ _id }) => !final.some((forget) => forget._id === _id)), ...final],
        forgotten: [...new Set([...forgotten, ...forgottenAgents(final)])],
        records: new Map([...records].filter(stays)),
        identities: new Map([...identities].filter(stays)),
        changes: new Map([...changes].filter(stays)),
        queued: queued.filter((doc) => stays([doc._id, doc])),
        forgetting: forgetting.filter((doc) => !final.some((forget) => forget._id === doc._id)),
      }));
    },
  };
}
