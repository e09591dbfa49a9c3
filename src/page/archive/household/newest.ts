/**
 * What decides who somebody is and how things are set, of however many documents: bounded by how
 * many agents, threads and schedules there are.
 */
import { rosterOf, type Roster } from '../../../shared/domain/agent.ts';
import { settingsOf, type Settings } from '../../../shared/domain/settings.ts';
import type { AgentIdentityDoc, Doc } from '../../../shared/protocol/documents.ts';
import { isKnown, kindOf, slotOf, wins } from '../../../shared/protocol/documents/kinds.ts';
import type { HouseholdView } from '../../../shared/protocol/worker.ts';

export type Deciding = Pick<HouseholdView, 'identities' | 'changes' | 'settings' | 'records'>;

export interface Newest {
  take(docs: readonly Doc[]): void;
  now(): Deciding;
}

/** Keeps the identities, and of what is said more than once about one thing that which holds. */
export function createNewest(): Newest {
  const identities = new Map<string, AgentIdentityDoc>();
  const held = new Map<string, Doc>();
  return {
    take(docs) {
      for (const doc of docs) {
        if (isKnown(doc) && doc.type === 'agent-identity') identities.set(doc._id, doc);
        const slot = slotOf(doc);
        const before = slot === null ? undefined : held.get(slot);
        if (slot !== null && (!before || wins(doc, before))) held.set(slot, doc);
      }
    },
    now() {
      const holding = [...held.values()];
      return {
        identities: [...identities.values()],
        changes: holding.filter(isKnown).filter((doc) => doc.type === 'agent-change'),
        settings: holding.filter(isKnown).filter((doc) => doc.type === 'setting'),
        records: holding.filter(({ type }) => kindOf(type)?.isRecord === true),
      };
    },
  };
}

export const union = (a: Deciding, b: Deciding): Deciding => ({
  identities: [...a.identities, ...b.identities],
  changes: [...a.changes, ...b.changes],
  settings: [...a.settings, ...b.settings],
  records: [...a.records, ...b.records],
});

const withId = <T extends { readonly _id: string }>(doc: T) => ({ ...doc, id: doc._id });

export function rosterFrom({ identities, changes }: Pick<Deciding, 'identities' | 'changes'>): Roster {
  return rosterOf(identities.map(withId), changes.map(withId));
}

export function settingsFrom({ settings }: Pick<Deciding, 'settings'>): Settings {
  return settingsOf(settings.map(({ _id, key, value, at }) => ({ id: _id, key, value, at })));
}
