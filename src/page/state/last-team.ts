/**
 * The team as this browser showed it last, small enough to be read before the first paint: the grid
 * stands there while the worker is still opening the ledger. What the ledger says then takes its
 * place, whatever it is.
 */
import type { Agent, AgentChange, Identity, Roster } from '../../shared/domain/agent.ts';
import { rosterOf } from '../../shared/domain/agent.ts';
import { choicesOf } from '../../shared/domain/choices.ts';
import { settingsOf, type SettingRecord, type Settings } from '../../shared/domain/settings.ts';
import { wins } from '../../shared/protocol/documents/kinds.ts';
import type { SettingDoc } from '../../shared/protocol/documents.ts';
import type { Household } from './household.ts';
import type { TextStorage } from './ports.ts';

/** Its name in localStorage; the number goes up when what stands there is written otherwise. */
const KEPT_AS = 'roost-last-team-1';
/**
 * Characters: of a larger one nothing is kept, it would be read by every page before anything is
 * painted.
 */
const MOST = 300_000;

interface LastTeam {
  readonly identities: readonly Identity[];
  readonly changes: readonly AgentChange[];
  readonly settings: readonly SettingRecord[];
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null);
/** Written by this file alone, under a name that says how. */
const isLastTeam = (value: unknown): value is LastTeam =>
  typeof value === 'object' &&
  value !== null &&
  'identities' in value &&
  'changes' in value &&
  'settings' in value &&
  isList(value.identities) &&
  isList(value.changes) &&
  isList(value.settings);

/**
 * As it would be written down anew: one identity with what holds now, whatever was changed over the
 * years.
 */
const identityOf = (agent: Agent): Identity => ({
  id: agent.agentId,
  agentId: agent.agentId,
  name: agent.birthName,
  color: agent.color,
  colorName: agent.colorName,
  position: agent.position ?? -1,
  individuationArtifact: agent.soul,
  bornAt: agent.bornAt,
  bornSessionId: agent.bornSessionId,
});
const renameOf = ({ agentId, name }: Agent): AgentChange => ({
  id: agentId,
  agentId,
  at: '',
  change: { kind: 'rename', name },
});

/** What the page showed last; null: nothing that can be read. */
export function readLastTeam(storage: TextStorage): { readonly roster: Roster; readonly settings: Settings } | null {
  const text = storage.read(KEPT_AS);
  if (text === null) return null;
  try {
    const kept: unknown = JSON.parse(text);
    if (!isLastTeam(kept)) return null;
    const settings = settingsOf(kept.settings);
    const roster = rosterOf(kept.identities, kept.changes, settings.humanName, choicesOf(kept.settings));
    return { roster, settings };
  } catch (error) {
    // Only somebody else can have written what is not read: the ledger is there in a moment.
    console.warn('The team as it was last cannot be read:', error);
    return null;
  }
}

/**
 * Writes it whenever the team or its settings are others. Nobody that was let go is in it. Returns
 * the way to stop.
 */
export function keepLastTeam(storage: TextStorage, { store }: Household): () => void {
  let last: string | null = null;
  return store.subscribe(({ status, roster, settingDocs }, before) => {
    if (status !== 'ready') return;
    if (before.status === 'ready' && roster === before.roster && settingDocs === before.settingDocs) return;
    const newest = new Map<string, SettingDoc>();
    for (const doc of settingDocs.values()) {
      const held = newest.get(doc.key);
      if (!held || wins(doc, held)) newest.set(doc.key, doc);
    }
    const agents = [...roster.byId.values()].filter(({ retired }) => !retired);
    const team: LastTeam = {
      identities: agents.map(identityOf),
      changes: agents.map(renameOf),
      settings: [...newest.values()].map(({ _id, key, value, at }) => ({ id: _id, key, value, at })),
    };
    const text = roster.lead === null ? '' : JSON.stringify(team);
    if (text === last) return;
    last = text;
    // A full storage keeps nothing: the page opens as it did before.
    if (text.length > MOST || !storage.write(KEPT_AS, text)) storage.write(KEPT_AS, '');
  });
}
