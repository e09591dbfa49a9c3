/** What decides who somebody is and how things are set, of however many documents: bounded by how many agents there are. */
import { rosterOf, type Roster } from '../../domain/agent.ts';
import { isSettingValue, settingsOf, type Settings } from '../../domain/settings.ts';
import type { AgentChangeDoc, AgentIdentityDoc, Doc, SettingDoc } from '../../protocol/documents.ts';
import { isKnown } from '../../protocol/known.ts';
import type { HouseholdView } from '../../protocol/worker.ts';

export type Deciding = Pick<HouseholdView, 'identities' | 'changes' | 'settings'>;

export interface Newest {
  take(docs: readonly Doc[]): void;
  now(): Deciding;
}

const isLater = (a: { at: string; _id: string }, b: { at: string; _id: string }) =>
  a.at > b.at || (a.at === b.at && a._id > b._id);

/** Keeps the identities, and of changes and settings the newest of each kind about each thing. */
export function createNewest(): Newest {
  const identities = new Map<string, AgentIdentityDoc>();
  const changes = new Map<string, AgentChangeDoc>();
  const settings = new Map<string, SettingDoc>();
  const keep = <T extends { at: string; _id: string }>(map: Map<string, T>, key: string, doc: T) => {
    const held = map.get(key);
    if (!held || isLater(doc, held)) map.set(key, doc);
  };
  return {
    take(docs) {
      for (const doc of docs) {
        if (!isKnown(doc)) continue;
        if (doc.type === 'agent-identity') identities.set(doc._id, doc);
        else if (doc.type === 'agent-change')
          keep(changes, `${doc.change.kind === 'return' ? 'retire' : doc.change.kind} ${doc.agentId}`, doc);
        else if (doc.type === 'setting' && isSettingValue(doc.key, doc.value)) keep(settings, doc.key, doc);
      }
    },
    now: () => ({
      identities: [...identities.values()],
      changes: [...changes.values()],
      settings: [...settings.values()],
    }),
  };
}

export const union = (a: Deciding, b: Deciding): Deciding => ({
  identities: [...a.identities, ...b.identities],
  changes: [...a.changes, ...b.changes],
  settings: [...a.settings, ...b.settings],
});

const withId = <T extends { readonly _id: string }>(doc: T) => ({ ...doc, id: doc._id });

export function rosterFrom({ identities, changes }: Pick<Deciding, 'identities' | 'changes'>): Roster {
  return rosterOf(identities.map(withId), changes.map(withId));
}

export function settingsFrom({ settings }: Pick<Deciding, 'settings'>): Settings {
  return settingsOf(settings.map(({ _id, key, value, at }) => ({ id: _id, key, value, at })));
}
