/**
 * Who lives here, and how they want things: the grid is painted from this. Fed by the owner's view once,
 * then by documents as they are stored, and by births as they are heard; taking one twice changes nothing.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { rosterOf, type Roster } from '../domain/agent.ts';
import { settingsOf, type Settings } from '../domain/settings.ts';
import { isKnown, type AgentChangeDoc, type AgentIdentityDoc, type Doc, type QueuedMessageDoc, type SettingDoc } from '../protocol/documents.ts';
import type { HouseholdView } from '../protocol/worker.ts';

export interface HouseholdState {
  readonly status: 'loading' | 'ready' | 'failed';
  /** Why it could not be read, for people. */
  readonly error: string | null;
  readonly identities: ReadonlyMap<string, AgentIdentityDoc>;
  readonly changes: ReadonlyMap<string, AgentChangeDoc>;
  readonly settingDocs: ReadonlyMap<string, SettingDoc>;
  readonly queued: readonly QueuedMessageDoc[];
  readonly roster: Roster;
  readonly settings: Settings;
}

export interface Household {
  readonly store: StoreApi<HouseholdState>;
  load(view: HouseholdView): void;
  fail(error: string): void;
  take(docs: readonly Doc[]): void;
}

const withId = <T extends { _id: string }>(doc: T) => ({ ...doc, id: doc._id });

export function createHousehold(): Household {
  const store = createStore<HouseholdState>()(() => ({
    status: 'loading',
    error: null,
    identities: new Map(),
    changes: new Map(),
    settingDocs: new Map(),
    queued: [],
    roster: rosterOf([], []),
    settings: settingsOf([]),
  }));

  /** Client ids of messages that a relay has taken: their queued twins are done with. */
  const taken = new Set<string>();

  function take(docs: readonly Doc[], status?: 'ready') {
    const held = store.getState();
    const identities = new Map(held.identities);
    const changes = new Map(held.changes);
    const settingDocs = new Map(held.settingDocs);
    const queued = new Map(held.queued.map((doc) => [doc.clientId, doc]));
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
          settingDocs.set(doc._id, doc);
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
        case 'session':
        case 'message-read':
        case 'forget':
        case 'forget-undo':
          break;
        default:
          doc satisfies never;
      }
    }
    const people = identities.size !== held.identities.size || changes.size !== held.changes.size;
    const wishes = settingDocs.size !== held.settingDocs.size;
    const waiting = queued.size !== held.queued.length;
    if (!people && !wishes && !waiting && !status) return;
    store.setState({
      ...(status ? { status, error: null } : {}),
      ...(people ? { identities, changes, roster: rosterOf([...identities.values()].map(withId), [...changes.values()].map(withId)) } : {}),
      ...(wishes ? { settingDocs, settings: settingsOf([...settingDocs.values()].map(withId)) } : {}),
      ...(waiting ? { queued: [...queued.values()].sort((a, b) => (a.at < b.at ? -1 : 1)) } : {}),
    });
  }

  return {
    store,
    load: (view) => take([...view.identities, ...view.changes, ...view.settings, ...view.queued], 'ready'),
    fail: (error) => store.setState({ status: 'failed', error }),
    take,
  };
}
