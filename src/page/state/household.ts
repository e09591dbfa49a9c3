/**
 * Who lives here, and how they want things: the grid is painted from this. Fed by the owner's view
 * once, then by documents as they are stored, and by births as they are heard; taking one twice
 * changes nothing.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { rosterOf, type Roster } from '../../shared/domain/agent.ts';
import { choiceOf, choicesOf, type AgentChoice } from '../../shared/domain/choices.ts';
import { finalForgets, forgottenAgents, pendingForgets } from '../../shared/domain/forgetting.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { readMarkOf } from '../../shared/domain/read-marks.ts';
import { settingsOf, type Settings } from '../../shared/domain/settings.ts';
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

export interface HouseholdState {
  readonly status: 'loading' | 'ready' | 'failed';
  /** Why it could not be read, for people. */
  readonly error: string | null;
  readonly identities: ReadonlyMap<string, AgentIdentityDoc>;
  readonly changes: ReadonlyMap<string, AgentChangeDoc>;
  readonly settingDocs: ReadonlyMap<string, SettingDoc>;
  /** By what they are about: the documents that hold, of every kind without a place of its own. */
  readonly records: ReadonlyMap<string, Doc>;
  readonly queued: readonly QueuedMessageDoc[];
  /**
   * Asked to be forgotten and neither undone nor final; the latest first. What they cover is in
   * `identities` and `changes`, and nowhere else.
   */
  readonly forgetting: readonly ForgetDoc[];
  /** Agents that were forgotten for good. */
  readonly forgotten: readonly AgentId[];
  /** Without those who are being forgotten. */
  readonly roster: Roster;
  readonly settings: Settings;
}

export interface Household {
  readonly store: StoreApi<HouseholdState>;
  load(view: HouseholdView): void;
  fail(error: string): void;
  take(docs: readonly Doc[]): void;
  /** Is this out of sight, because it is being forgotten or is forgotten? */
  isHidden(doc: Doc): boolean;
  /** These are final: drops what they cover. */
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

/** With those of the documents that hold from now on; the same map where none does. */
function withNewest(held: ReadonlyMap<string, Doc>, docs: readonly Doc[]): ReadonlyMap<string, Doc> {
  let records: Map<string, Doc> | null = null;
  for (const doc of docs) {
    const slot = storeOf(doc) === 'records' ? slotOf(doc) : null;
    const before = slot === null ? undefined : (records ?? held).get(slot);
    if (slot === null || (before && !wins(doc, before))) continue;
    records ??= new Map(held);
    records.set(slot, doc);
  }
  return records ?? held;
}

const isChoice = (doc: KnownDoc) => doc.type === 'setting' && choiceOf(doc) !== null;

const latestFirst = (a: ForgetDoc, b: ForgetDoc) => (a.at < b.at ? 1 : -1);

/** `now` gives ms since the epoch; `last`: what is shown until the ledger has been read. */
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
    roster: last?.roster ?? rosterOf([], []),
    settings: last?.settings ?? settingsOf([]),
  }));

  /** Client ids of messages that a relay has taken: their queued twins are done with. */
  const taken = new Set<string>();
  const forgets = new Map<string, ForgetDoc>();
  const undos = new Map<string, ForgetUndoDoc>();
  /** What is out of sight: asked for, and not undone. */
  let hiding: readonly ForgetDoc[] = [];
  const isHidden = (doc: Doc) => hiding.some((forget) => isCovered(doc, forget));

  const inSight = (doc: Doc) => !isHidden(doc);

  function take(docs: readonly Doc[], status?: 'ready') {
    const held = store.getState();
    const identities = new Map(held.identities);
    const changes = new Map(held.changes);
    const settingDocs = new Map(held.settingDocs);
    const records = withNewest(held.records, docs);
    const queued = new Map(held.queued.map((doc) => [doc.clientId, doc]));
    const asked = forgets.size + undos.size;
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
          // How far somebody has read is no wish: see ./unread.ts.
          if (readMarkOf(doc) === null) settingDocs.set(doc._id, doc);
          break;
        case 'queued-message':
          if (!taken.has(doc.clientId)) queued.set(doc.clientId, doc);
          break;
        case 'message':
          if (doc.clientId) {
            taken.add(doc.clientId);
            queued.delete(doc.clientId);
          }
          break;
        case 'message-withdrawn':
          // What a relay took all the same stands as a message.
          if (doc.of === undefined) taken.add(doc.clientId);
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
    const letGo = forgets.size + undos.size !== asked;
    let { forgetting } = held;
    if (letGo) {
      forgetting = pendingForgets([...forgets.values()], [...undos.values()], now()).sort(latestFirst);
      hiding = [...forgetting, ...finalForgets([...forgets.values()], [...undos.values()], now())];
    }
    for (const doc of queued.values()) if (isHidden(doc)) queued.delete(doc.clientId);
    const people = letGo || identities.size !== held.identities.size || changes.size !== held.changes.size;
    const wishes = settingDocs.size !== held.settingDocs.size;
    // The first words of a relay are not the team: what was shown last stands until the ledger has
    // been read.
    const isShown = last === null || held.status === 'ready' || status === 'ready';
    const settings = wishes || status ? settingsOf([...settingDocs.values()].map(withId)) : held.settings;
    // Who shares the person's name is told apart: that changes with it. And how somebody looks may
    // have been chosen.
    const called =
      settings.humanName !== held.settings.humanName || (wishes && docs.some((doc) => isKnown(doc) && isChoice(doc)));
    const waiting = queued.size !== held.queued.length;
    const recorded = records !== held.records;
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
      store.setState({ forgotten: view.forgotten });
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
      store.setState(({ forgetting, forgotten, queued, records }) => ({
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
